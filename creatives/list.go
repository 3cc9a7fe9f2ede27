package creatives

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/indexes"
	"catalogue/internal/instant"
	"catalogue/internal/listing"
	"catalogue/internal/strictbson"
	"catalogue/pagination"
)

// The first of the sorts is the default of both lists.
func sorts() pagination.Sorts {
	return pagination.Sorts{
		{Field: "created_at", Kind: pagination.Date},
		{Field: "updated_at", Kind: pagination.Date},
		{Field: "name", Kind: pagination.String},
		{Field: "launched_at", Kind: pagination.Date},
		{Field: "metrics.spend", Kind: pagination.Number},
		{Field: "metrics.impressions", Kind: pagination.Number},
		{Field: "metrics.clicks", Kind: pagination.Number},
		{Field: "metrics.ctr", Kind: pagination.Number},
		{Field: "media.width", Kind: pagination.Number},
		{Field: "media.height", Kind: pagination.Number},
		{Field: "media.duration_s", Kind: pagination.Number},
	}
}

// pairs are the filters that admins use most, each with the default sort: what is running, by kind and by tag. A filter
// on other fields, or with another sort, takes the index of its sort.
func pairs() []listing.Pair {
	return []listing.Pair{
		{Filter: "status", Sort: "created_at", Reason: "newest creatives of a status"},
		{Filter: "format", Sort: "created_at", Reason: "newest creatives of a format"},
		{Filter: "tags", Sort: "created_at", Reason: "newest creatives with a tag"},
	}
}

// List is every creative, whole.
func List() listing.List[Creative] {
	return listing.List[Creative]{
		Name: "creatives", Path: "/creatives", Collection: Collection,
		Sorts: sorts(), Default: pagination.Desc(sorts()[0]),
		Decoder: strictbson.New[Creative](),
		Fields:  Fields(), SearchPath: "/creatives/search", Pairs: pairs(),
	}
}

// GalleryItem is the light form of a creative, for screens that show many.
type GalleryItem struct {
	ID         bson.ObjectID    `bson:"_id"         json:"id"`
	Name       *string          `bson:"name"        json:"name,omitempty"`
	Status     *string          `bson:"status"      json:"status,omitempty"`
	Format     *string          `bson:"format"      json:"format,omitempty"`
	Media      *Media           `bson:"media"       json:"media,omitempty"`
	Metrics    *Metrics         `bson:"metrics"     json:"metrics,omitempty"`
	CreatedAt  *instant.Instant `bson:"created_at"  json:"created_at,omitempty"`
	UpdatedAt  *instant.Instant `bson:"updated_at"  json:"updated_at,omitempty"`
	LaunchedAt *instant.Instant `bson:"launched_at" json:"launched_at,omitempty"`
}

// Gallery is every creative in its light form.
func Gallery() listing.List[GalleryItem] {
	return listing.List[GalleryItem]{
		Name: "creatives/gallery", Path: "/creatives/gallery", Collection: Collection,
		Sorts: sorts(), Default: pagination.Desc(sorts()[0]),
		Decoder: strictbson.New[GalleryItem](),
		Fields:  Fields(), Pairs: pairs(),
	}
}

// Indexes are the indexes that creatives need.
func Indexes() []indexes.Index {
	return indexes.Distinct(List().Indexes(), Gallery().Indexes(), []indexes.Index{indexes.UniqueSource(Collection)})
}
