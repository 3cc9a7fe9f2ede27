package seeding

import (
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/creatives"
)

var (
	nameStarts = [...]string{"Spring sale", "Été — soldes", "E\u0301te\u0301 en ville", "Знижки тижня", "夏のセール", "عرض خاص", "Back to school", "🎨 Studio", "Ærlig pris", "A"}
	nameEnds   = [...]string{"", " 300×250", " – story", " vertical", " 🏖️", " (v2)", " teaser", " ß"}
	tagNames   = [...]string{"brand", "retargeting", "q1", "holiday", "évènement", "ab-test"}
	currencies = [...]string{"USD", "EUR", "UAH"}
	formats    = [...]string{creatives.FormatImage, creatives.FormatImage, creatives.FormatVideo, creatives.FormatHTML, creatives.FormatText}
	statuses   = [...]string{creatives.StatusDraft, creatives.StatusActive, creatives.StatusActive, creatives.StatusPaused, creatives.StatusArchived}
	sizes      = [...][2]int64{{300, 250}, {728, 90}, {1080, 1920}, {1920, 1080}, {1080, 1080}}
)

// absent are the forms in which a parent has nothing in it: all of them are one group for a list.
var absent = [...]any{nil, bson.D{}, bson.D{{Key: "spend", Value: nil}, {Key: "width", Value: nil}}}

func (m *maker) creative() bson.D {
	format := formats[m.IntN(len(formats))]
	doc := bson.D{
		{Key: "_id", Value: m.id},
		{Key: "status", Value: statuses[m.IntN(len(statuses))]},
		{Key: "format", Value: format},
		{Key: "mode", Value: m.mode()},
	}
	doc = m.maybe(doc, 99, "name", m.name())
	created := m.moment()
	doc = m.maybe(doc, 98, "created_at", created)
	doc = m.maybe(doc, 90, "updated_at", created.Add(time.Duration(m.IntN(30*24))*time.Hour))
	doc = m.maybe(doc, 60, "launched_at", created.Add(time.Duration(m.IntN(10))*24*time.Hour))
	doc = m.maybe(doc, 30, "ended_at", created.Add(time.Duration(m.IntN(90))*24*time.Hour))
	doc = m.parent(doc, "media", m.media(format))
	doc = m.parent(doc, "metrics", m.metrics())
	if n := m.IntN(4); n > 0 {
		start := m.IntN(len(tagNames) - n)
		doc = append(doc, bson.E{Key: "tags", Value: tagNames[start : start+n]})
	}
	return doc
}

// maybe adds a field in so many cases of a hundred; in the others it is null half the time and missing otherwise.
func (m *maker) maybe(doc bson.D, percent int, key string, value any) bson.D {
	switch {
	case m.IntN(100) < percent:
		return append(doc, bson.E{Key: key, Value: value})
	case m.IntN(2) == 0:
		return append(doc, bson.E{Key: key, Value: nil})
	default:
		return doc
	}
}

// parent adds a nested document in four cases of five, in the others one of the forms of absence.
func (m *maker) parent(doc bson.D, key string, value bson.D) bson.D {
	switch n := m.IntN(20); {
	case n < 16:
		return append(doc, bson.E{Key: key, Value: value})
	case n < 19:
		return append(doc, bson.E{Key: key, Value: absent[n-16]})
	default:
		return doc
	}
}

func (m *maker) name() string {
	name := nameStarts[m.IntN(len(nameStarts))] + nameEnds[m.IntN(len(nameEnds))]
	if m.IntN(3) == 0 { // a third are alone with their name, the rest are tied
		name += fmt.Sprintf(" #%d", m.number)
	}
	return name
}

func (m *maker) mode() string {
	if m.IntN(20) == 0 {
		return creatives.ModeTest
	}
	return creatives.ModeLive
}

// moment is within two years before the epoch, for a third of the documents on the hour, so that many are tied.
func (m *maker) moment() time.Time {
	t := epoch().Add(-time.Duration(m.Int64N(int64(2 * 365 * 24 * time.Hour)))).Truncate(time.Millisecond)
	if m.IntN(3) == 0 {
		t = t.Truncate(24 * time.Hour)
	}
	return t
}

func (m *maker) media(format string) bson.D {
	if format == creatives.FormatText {
		return bson.D{}
	}
	size := sizes[m.IntN(len(sizes))]
	doc := bson.D{
		{Key: "width", Value: size[0]},
		{Key: "height", Value: size[1]},
		{Key: "url", Value: "https://media.example.com/" + m.id.Hex()},
	}
	if format == creatives.FormatVideo {
		doc = append(doc, bson.E{Key: "duration_s", Value: float64(5 * (1 + m.IntN(12)))})
	}
	return m.maybe(doc, 70, "thumbnail_url", "https://media.example.com/"+m.id.Hex()+"/thumbnail")
}

func (m *maker) metrics() bson.D {
	spend := math.Round(m.Float64()*1e6) / 100
	if m.IntN(4) == 0 {
		spend = float64(100 * m.IntN(3)) // ties, 0 among them
	}
	impressions := m.Int64N(100_000)
	if m.IntN(10) == 0 {
		impressions = 0
	}
	doc := bson.D{
		{Key: "spend", Value: spend},
		{Key: "currency", Value: currencies[m.IntN(len(currencies))]},
		{Key: "impressions", Value: impressions},
	}
	clicks := m.Int64N(impressions/20 + 1)
	doc = append(doc, bson.E{Key: "clicks", Value: clicks})
	if impressions > 0 {
		doc = append(doc, bson.E{Key: "ctr", Value: float64(clicks) / float64(impressions)})
	}
	return doc
}
