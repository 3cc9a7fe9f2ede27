package creatives

import (
	"catalogue/internal/rules"
	"catalogue/querybuilder"
)

// Fields are what creatives may be filtered by.
func Fields() querybuilder.Schema {
	return querybuilder.Schema{
		Search: []string{"name"},
		Fields: []querybuilder.Field{
			{Name: "name", Label: "Name", Kind: querybuilder.String, FoldCase: true},
			{
				Name: "status", Label: "Status", Kind: querybuilder.Enum,
				Values: rules.OneOf[Creative]("status"),
			},
			{
				Name: "format", Label: "Format", Kind: querybuilder.Enum,
				Values: rules.OneOf[Creative]("format"),
			},
			{Name: "mode", Label: "Mode", Kind: querybuilder.Enum, Values: rules.OneOf[Creative]("mode")},
			{Name: "tags", Label: "Tags", Kind: querybuilder.StringList, Short: "tag"},
			{Name: "source.system", Label: "Source system", Kind: querybuilder.String},
			{Name: "source.id", Label: "Source id", Kind: querybuilder.String},
			{Name: "created_at", Label: "Created", Kind: querybuilder.Date},
			{Name: "updated_at", Label: "Updated", Kind: querybuilder.Date},
			{Name: "launched_at", Label: "Launched", Kind: querybuilder.Date},
			{Name: "ended_at", Label: "Ended", Kind: querybuilder.Date},
			{Name: "media.width", Label: "Width in pixels", Kind: querybuilder.Number, Integer: true},
			{Name: "media.height", Label: "Height in pixels", Kind: querybuilder.Number, Integer: true},
			{Name: "media.duration_s", Label: "Duration in seconds", Kind: querybuilder.Number},
			{Name: "media.url", Label: "URL", Kind: querybuilder.String},
			{Name: "media.thumbnail_url", Label: "Thumbnail URL", Kind: querybuilder.String},
			{Name: "metrics.spend", Label: "Spend", Kind: querybuilder.Number},
			{Name: "metrics.currency", Label: "Currency", Kind: querybuilder.String},
			{Name: "metrics.impressions", Label: "Impressions", Kind: querybuilder.Number, Integer: true},
			{Name: "metrics.clicks", Label: "Clicks", Kind: querybuilder.Number, Integer: true},
			{Name: "metrics.ctr", Label: "Click-through rate", Kind: querybuilder.Number},
		},
	}
}
