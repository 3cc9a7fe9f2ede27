// Package creatives holds advertising creatives: the type, its rules, its lists and its routes.
package creatives

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// Collection is the name of the collection that holds creatives.
const Collection = "creatives"

// The values of the enumerated fields.
const (
	StatusDraft    = "draft"
	StatusActive   = "active"
	StatusPaused   = "paused"
	StatusArchived = "archived"

	FormatImage = "image"
	FormatVideo = "video"
	FormatHTML  = "html"
	FormatText  = "text"

	ModeLive = "live"
	ModeTest = "test"
)

// Creative is an advertisement or a piece of one. Fields that may be absent are pointers: what is absent is left
// out of JSON and of the stored document. The validation rules hold for every way in; documents stored by other
// programs may break them, and are shown as far as they fit.
type Creative struct {
	ID     bson.ObjectID `bson:"_id"              json:"id"`
	Name   *string       `bson:"name,omitempty"   json:"name,omitempty"   validate:"required,min=1,max=1000,text"`
	Status *string       `bson:"status,omitempty" json:"status,omitempty" validate:"required,oneof=draft active paused archived"`
	Format *string       `bson:"format,omitempty" json:"format,omitempty" validate:"required,oneof=image video html text"`
	Mode   *string       `bson:"mode,omitempty"   json:"mode,omitempty"   validate:"required,oneof=live test"`

	// Rev is 1 at first and goes up by one with every change. DateModified is when the last one was made.
	Rev          *int64           `bson:"rev,omitempty"          json:"rev,omitempty"`
	DateModified *instant.Instant `bson:"dateModified,omitempty" json:"dateModified,omitempty"`

	CreatedAt  *instant.Instant `bson:"created_at,omitempty"  json:"created_at,omitempty"`
	UpdatedAt  *instant.Instant `bson:"updated_at,omitempty"  json:"updated_at,omitempty"`
	LaunchedAt *instant.Instant `bson:"launched_at,omitempty" json:"launched_at,omitempty"` // first shown to the public
	EndedAt    *instant.Instant `bson:"ended_at,omitempty"    json:"ended_at,omitempty"`    // last shown to the public

	Media      *Media            `bson:"media,omitempty"      json:"media,omitempty"`
	Metrics    *Metrics          `bson:"metrics,omitempty"    json:"metrics,omitempty"`
	Tags       []string          `bson:"tags,omitempty"       json:"tags,omitempty"       validate:"max=100,dive,min=1,max=100,text"`
	Attributes map[string]string `bson:"attributes,omitempty" json:"attributes,omitempty" validate:"max=100,dive,keys,min=1,max=64,attribute_name,endkeys,max=4000,text"`
	Source     *origin.Source    `bson:"source,omitempty"     json:"source,omitempty"`
}

// Media describes what is shown.
type Media struct {
	Width        *int64   `bson:"width,omitempty"         json:"width,omitempty"         validate:"omitempty,gte=1,lte=1000000"` // pixels
	Height       *int64   `bson:"height,omitempty"        json:"height,omitempty"        validate:"omitempty,gte=1,lte=1000000"` // pixels
	DurationS    *float64 `bson:"duration_s,omitempty"    json:"duration_s,omitempty"    validate:"omitempty,gte=0,lte=1000000"` // seconds
	URL          *string  `bson:"url,omitempty"           json:"url,omitempty"           validate:"omitempty,max=2000,http_url,text"`
	ThumbnailURL *string  `bson:"thumbnail_url,omitempty" json:"thumbnail_url,omitempty" validate:"omitempty,max=2000,http_url,text"`
}

// Metrics are the figures of a campaign so far.
type Metrics struct {
	// Spend is in units of Currency. Amounts are never converted: sorting by spend compares plain numbers.
	Spend       *float64 `bson:"spend,omitempty"       json:"spend,omitempty"       validate:"omitempty,gte=0,lte=1000000000000"`
	Currency    *string  `bson:"currency,omitempty"    json:"currency,omitempty"    validate:"required_with=Spend,omitempty,iso4217"`
	Impressions *int64   `bson:"impressions,omitempty" json:"impressions,omitempty" validate:"omitempty,gte=0"`
	Clicks      *int64   `bson:"clicks,omitempty"      json:"clicks,omitempty"      validate:"omitempty,gte=0"`
	// CTR is clicks / impressions, unrounded, derived by Derive and absent at no impressions.
	CTR *float64 `bson:"ctr,omitempty" json:"ctr,omitempty" validate:"omitempty,gte=0"`
}

// Derive computes what follows from other fields, and leaves out empty parents. Every way in calls it before a new
// creative is stored. What c points to is changed in place.
func (c *Creative) Derive() {
	if m := c.Metrics; m != nil {
		m.deriveCTR()
		if *m == (Metrics{}) {
			c.Metrics = nil
		}
	}
	if c.Media != nil && *c.Media == (Media{}) {
		c.Media = nil
	}
}

func (m *Metrics) deriveCTR() {
	m.CTR = nil
	if m.Impressions != nil && *m.Impressions > 0 && m.Clicks != nil {
		m.CTR = new(float64(*m.Clicks) / float64(*m.Impressions))
	}
}

// follow is Derive for a creative that changes: it touches what follows from fields that have changed, and leaves alone
// what other programs have stored otherwise.
func (c *Creative) follow(old *Creative) {
	if c.Metrics == nil {
		return
	}
	before := Metrics{}
	if old.Metrics != nil {
		before = *old.Metrics
	}
	m := *c.Metrics
	if !same(before.Clicks, m.Clicks) || !same(before.Impressions, m.Impressions) {
		m.deriveCTR()
	}
	if before.Spend != nil && m.Spend == nil {
		m.Currency = nil // it was that of the amount that went
	}
	if c.Metrics = &m; m == (Metrics{}) {
		c.Metrics = nil
	}
}

func same(a, b *int64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}
