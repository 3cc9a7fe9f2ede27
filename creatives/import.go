package creatives

import (
	"catalogue/internal/importing"
	"catalogue/internal/instant"
	"catalogue/internal/origin"
)

// ImportTarget tells how rows of a file become creatives.
func ImportTarget() importing.Target {
	return importing.NewTarget(importing.Definition[Creative]{
		Collection: Collection,
		Fields: []importing.Field[Creative]{
			importing.Text("name", func(c *Creative) **string { return &c.Name }),
			importing.Text("status", func(c *Creative) **string { return &c.Status }),
			importing.Text("format", func(c *Creative) **string { return &c.Format }),
			importing.Text("mode", func(c *Creative) **string { return &c.Mode }),
			importing.Date("created_at", func(c *Creative) **instant.Instant { return &c.CreatedAt }),
			importing.Date("updated_at", func(c *Creative) **instant.Instant { return &c.UpdatedAt }),
			importing.Date("launched_at", func(c *Creative) **instant.Instant { return &c.LaunchedAt }),
			importing.Date("ended_at", func(c *Creative) **instant.Instant { return &c.EndedAt }),
			importing.Integer("media.width", func(c *Creative) **int64 { return &c.media().Width }),
			importing.Integer("media.height", func(c *Creative) **int64 { return &c.media().Height }),
			importing.Number("media.duration_s", func(c *Creative) **float64 { return &c.media().DurationS }),
			importing.Text("media.url", func(c *Creative) **string { return &c.media().URL }),
			importing.Text("media.thumbnail_url", func(c *Creative) **string { return &c.media().ThumbnailURL }),
			importing.Number("metrics.spend", func(c *Creative) **float64 { return &c.metrics().Spend }),
			importing.Text("metrics.currency", func(c *Creative) **string { return &c.metrics().Currency }),
			importing.Integer("metrics.impressions", func(c *Creative) **int64 { return &c.metrics().Impressions }),
			importing.Integer("metrics.clicks", func(c *Creative) **int64 { return &c.metrics().Clicks }),
			importing.Texts("tags", func(c *Creative) *[]string { return &c.Tags }),
		},
		Attributes: func(c *Creative) *map[string]string { return &c.Attributes },
		// An amount means nothing without its currency. A ratio of a new figure of the file and an old one would be
		// that of no moment.
		Together: [][]string{{"metrics.spend", "metrics.currency"}, {"metrics.clicks", "metrics.impressions"}},
		Derived: map[string][]string{
			"metrics.ctr": {"metrics.clicks", "metrics.impressions"},
			"name":        {"source.id"},
		},
		Finish:   finishImport,
		Warnings: importWarnings,
	})
}

// media is where to put a part of the media.
func (c *Creative) media() *Media {
	if c.Media == nil {
		c.Media = &Media{}
	}
	return c.Media
}

// metrics is where to put one of the metrics.
func (c *Creative) metrics() *Metrics {
	if c.Metrics == nil {
		c.Metrics = &Metrics{}
	}
	return c.Metrics
}

func finishImport(c *Creative, source origin.Source) {
	c.Source = &source
	if c.Name == nil {
		c.Name = new(source.ID)
	}
	c.Derive()
}

func importWarnings(c *Creative) []importing.Warning {
	var out []importing.Warning
	if c.CreatedAt == nil {
		out = append(out, importing.WarnNoCreationDate)
	}
	start := c.LaunchedAt
	if start == nil {
		start = c.CreatedAt
	}
	if start != nil && c.EndedAt != nil && c.EndedAt.Before(*start) {
		out = append(out, importing.WarnEndBeforeStart)
	}
	if m := c.Metrics; m != nil && m.Clicks != nil && m.Impressions != nil && *m.Clicks > *m.Impressions {
		out = append(out, importing.WarnClicksOverImpressions)
	}
	return out
}
