package rules_test

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/comments"
	"catalogue/creatives"
	"catalogue/history"
	"catalogue/internal/instant"
	"catalogue/internal/origin"
	"catalogue/internal/rules"
	"catalogue/tasks"
)

func creative(change func(*creatives.Creative)) *creatives.Creative {
	c := &creatives.Creative{
		Name: new("n"), Status: new(creatives.StatusDraft), Format: new(creatives.FormatImage), Mode: new(creatives.ModeLive),
	}
	change(c)
	return c
}

func task(change func(*tasks.Task)) *tasks.Task {
	v := &tasks.Task{Title: new("t"), Status: new(tasks.StatusOpen), Priority: new(int64(0)), Mode: new("live")}
	change(v)
	return v
}

func comment(change func(*comments.Comment)) *comments.Comment {
	c := &comments.Comment{EntityType: new("task"), EntityID: bson.ObjectID{1}, Author: new("a"), Body: new("b")}
	change(c)
	return c
}

func entry(change func(*history.Entry)) *history.Entry {
	e := &history.Entry{
		EntityType: new("task"), EntityID: bson.ObjectID{1}, Action: new(history.ActionStatusChanged),
		To: new("done"), At: &instant.Instant{},
	}
	change(e)
	return e
}

func media(m creatives.Media) any {
	return creative(func(c *creatives.Creative) { c.Media = &m })
}

func metrics(m creatives.Metrics) any {
	return creative(func(c *creatives.Creative) { c.Metrics = &m })
}

func source(s origin.Source) any {
	return creative(func(c *creatives.Creative) { c.Source = &s })
}

func numbered(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[strconv.Itoa(i)] = ""
	}
	return out
}

var accents = strings.Repeat("é", 1000) // 1000 characters, 2000 bytes

func TestEntitiesThatKeepTheRules(t *testing.T) {
	t.Parallel()
	for name, entity := range map[string]any{
		"creative":            creative(func(*creatives.Creative) {}),
		"creative by value":   *creative(func(*creatives.Creative) {}),
		"task":                task(func(*tasks.Task) {}),
		"task of priority 4":  task(func(v *tasks.Task) { v.Priority = new(int64(4)) }),
		"comment":             comment(func(*comments.Comment) {}),
		"entry at the epoch":  entry(func(*history.Entry) {}),
		"characters, no byte": creative(func(c *creatives.Creative) { c.Name = &accents; c.Tags = []string{accents[:200]} }),
		"most tags":           creative(func(c *creatives.Creative) { c.Tags = slices.Repeat([]string{"t"}, 100) }),
		"most attributes":     creative(func(c *creatives.Creative) { c.Attributes = numbered(100) }),
		"longest attribute": creative(func(c *creatives.Creative) {
			c.Attributes = map[string]string{accents[:128]: strings.Repeat("é", 4000)}
		}),
		"empty parents":          creative(func(c *creatives.Creative) { c.Media, c.Metrics = &creatives.Media{}, &creatives.Metrics{} }),
		"least media":            media(creatives.Media{Width: new(int64(1)), Height: new(int64(1)), DurationS: new(0.0)}),
		"most media":             media(creatives.Media{Width: new(int64(1e6)), Height: new(int64(1e6)), DurationS: new(1e6)}),
		"addresses":              media(creatives.Media{URL: new("http://localhost:80/a?b=c#d"), ThumbnailURL: new("HTTPS://é.example/é")}),
		"zero metrics":           metrics(creatives.Metrics{Spend: new(0.0), Currency: new("EUR"), Impressions: new(int64(0)), Clicks: new(int64(0)), CTR: new(0.0)}),
		"most metrics":           metrics(creatives.Metrics{Spend: new(1e12), Currency: new("UAH"), Impressions: new(int64(math.MaxInt64))}),
		"currency without spend": metrics(creatives.Metrics{Currency: new("USD")}),
		"source":                 source(origin.Source{System: accents[:200], ID: accents[:1000]}),
		"longest description":    task(func(v *tasks.Task) { v.Description = new(strings.Repeat("é", 100_000)) }),
		"empty description":      task(func(v *tasks.Task) { v.Description = new("") }),
		"longest body":           comment(func(c *comments.Comment) { c.Body = new(strings.Repeat("é", 100_000)) }),
	} {
		require.Empty(t, rules.Check(entity), name)
	}
}

func TestEveryRuleOfEveryFieldHasItsPathAndMessage(t *testing.T) {
	t.Parallel()
	long := func(n int) *string { return new(strings.Repeat("é", n)) }
	type c = creatives.Creative
	for _, tc := range []struct {
		entity any
		want   rules.Violation
	}{
		// creatives
		{creative(func(v *c) { v.Name = nil }), rules.Violation{"name", "required", "name is required"}},
		{creative(func(v *c) { v.Name = new("") }), rules.Violation{"name", "min", "name must be at least 1 character"}},
		{creative(func(v *c) { v.Name = long(1001) }), rules.Violation{"name", "max", "name must be at most 1000 characters"}},
		{creative(func(v *c) { v.Name = new("a\x00") }), rules.Violation{"name", "text", "name must be UTF-8 text without NUL"}},
		{creative(func(v *c) { v.Name = new("a\xff") }), rules.Violation{"name", "text", "name must be UTF-8 text without NUL"}},
		{creative(func(v *c) { v.Status = nil }), rules.Violation{"status", "required", "status is required"}},
		{creative(func(v *c) { v.Status = new("") }), rules.Violation{"status", "oneof", "status must be one of draft, active, paused, archived"}},
		{creative(func(v *c) { v.Status = new("Draft") }), rules.Violation{"status", "oneof", "status must be one of draft, active, paused, archived"}},
		{creative(func(v *c) { v.Status = new("draft active") }), rules.Violation{"status", "oneof", "status must be one of draft, active, paused, archived"}},
		{creative(func(v *c) { v.Format = nil }), rules.Violation{"format", "required", "format is required"}},
		{creative(func(v *c) { v.Format = new("gif") }), rules.Violation{"format", "oneof", "format must be one of image, video, html, text"}},
		{creative(func(v *c) { v.Mode = nil }), rules.Violation{"mode", "required", "mode is required"}},
		{creative(func(v *c) { v.Mode = new("dead") }), rules.Violation{"mode", "oneof", "mode must be one of live, test"}},
		{creative(func(v *c) { v.Tags = slices.Repeat([]string{"t"}, 101) }), rules.Violation{"tags", "max", "tags must be at most 100 items"}},
		{creative(func(v *c) { v.Tags = []string{"a", ""} }), rules.Violation{"tags[1]", "min", "tags[1] must be at least 1 character"}},
		{creative(func(v *c) { v.Tags = []string{*long(101)} }), rules.Violation{"tags[0]", "max", "tags[0] must be at most 100 characters"}},
		{creative(func(v *c) { v.Tags = []string{"\x00"} }), rules.Violation{"tags[0]", "text", "tags[0] must be UTF-8 text without NUL"}},
		{creative(func(v *c) { v.Attributes = numbered(101) }), rules.Violation{"attributes", "max", "attributes must be at most 100 items"}},
		{
			creative(func(v *c) { v.Attributes = map[string]string{"": "v"} }),
			rules.Violation{"attributes[]", "min", "the name of attributes[] must be at least 1 character"},
		},
		{
			creative(func(v *c) { v.Attributes = map[string]string{*long(65): "v"} }),
			rules.Violation{"attributes[" + *long(65) + "]", "max", "the name of attributes[" + *long(65) + "] must be at most 64 characters"},
		},
		{
			creative(func(v *c) { v.Attributes = map[string]string{"a\x00b": "v"} }),
			rules.Violation{"attributes[a\x00b]", "attribute_name", "the name of attributes[a\x00b] must be UTF-8 text without dots, NUL, and a dollar sign in front"},
		},
		{
			creative(func(v *c) { v.Attributes = map[string]string{"a.b": "v"} }),
			rules.Violation{"attributes[a.b]", "attribute_name", "the name of attributes[a.b] must be UTF-8 text without dots, NUL, and a dollar sign in front"},
		},
		{
			creative(func(v *c) { v.Attributes = map[string]string{"$a": "v"} }),
			rules.Violation{"attributes[$a]", "attribute_name", "the name of attributes[$a] must be UTF-8 text without dots, NUL, and a dollar sign in front"},
		},
		{
			creative(func(v *c) { v.Attributes = map[string]string{"a$b[c]": *long(4001)} }),
			rules.Violation{"attributes[a$b[c]]", "max", "attributes[a$b[c]] must be at most 4000 characters"},
		},
		{
			creative(func(v *c) { v.Attributes = map[string]string{"colour": "\xff"} }),
			rules.Violation{"attributes[colour]", "text", "attributes[colour] must be UTF-8 text without NUL"},
		},
		{media(creatives.Media{Width: new(int64(0))}), rules.Violation{"media.width", "gte", "media.width must be at least 1"}},
		{media(creatives.Media{Width: new(int64(1e6 + 1))}), rules.Violation{"media.width", "lte", "media.width must be at most 1000000"}},
		{media(creatives.Media{Height: new(int64(-1))}), rules.Violation{"media.height", "gte", "media.height must be at least 1"}},
		{media(creatives.Media{Height: new(int64(1e6 + 1))}), rules.Violation{"media.height", "lte", "media.height must be at most 1000000"}},
		{media(creatives.Media{DurationS: new(-0.1)}), rules.Violation{"media.duration_s", "gte", "media.duration_s must be at least 0"}},
		{media(creatives.Media{DurationS: new(1e6 + 0.1)}), rules.Violation{"media.duration_s", "lte", "media.duration_s must be at most 1000000"}},
		{media(creatives.Media{DurationS: new(math.NaN())}), rules.Violation{"media.duration_s", "gte", "media.duration_s must be at least 0"}},
		{media(creatives.Media{URL: new("")}), rules.Violation{"media.url", "http_url", "media.url must be an http or https URL"}},
		{media(creatives.Media{URL: new("ftp://a/b")}), rules.Violation{"media.url", "http_url", "media.url must be an http or https URL"}},
		{media(creatives.Media{URL: new("javascript:alert(1)")}), rules.Violation{"media.url", "http_url", "media.url must be an http or https URL"}},
		{media(creatives.Media{URL: new("http://")}), rules.Violation{"media.url", "http_url", "media.url must be an http or https URL"}},
		{media(creatives.Media{URL: new("//a/b")}), rules.Violation{"media.url", "http_url", "media.url must be an http or https URL"}},
		{media(creatives.Media{URL: new("http://a/\x00")}), rules.Violation{"media.url", "http_url", "media.url must be an http or https URL"}},
		{media(creatives.Media{URL: new("http://a/\xff")}), rules.Violation{"media.url", "text", "media.url must be UTF-8 text without NUL"}},
		{media(creatives.Media{URL: new("http://a/" + *long(2000))}), rules.Violation{"media.url", "max", "media.url must be at most 2000 characters"}},
		{media(creatives.Media{ThumbnailURL: new("x")}), rules.Violation{"media.thumbnail_url", "http_url", "media.thumbnail_url must be an http or https URL"}},
		{media(creatives.Media{ThumbnailURL: long(2001)}), rules.Violation{"media.thumbnail_url", "max", "media.thumbnail_url must be at most 2000 characters"}},
		{metrics(creatives.Metrics{Spend: new(-0.01), Currency: new("EUR")}), rules.Violation{"metrics.spend", "gte", "metrics.spend must be at least 0"}},
		{metrics(creatives.Metrics{Spend: new(1e12 + 1), Currency: new("EUR")}), rules.Violation{"metrics.spend", "lte", "metrics.spend must be at most 1000000000000"}},
		{metrics(creatives.Metrics{Spend: new(math.Inf(1)), Currency: new("EUR")}), rules.Violation{"metrics.spend", "lte", "metrics.spend must be at most 1000000000000"}},
		{metrics(creatives.Metrics{Spend: new(math.NaN()), Currency: new("EUR")}), rules.Violation{"metrics.spend", "gte", "metrics.spend must be at least 0"}},
		{metrics(creatives.Metrics{Spend: new(1.0)}), rules.Violation{"metrics.currency", "required_with", "metrics.currency is required together with metrics.spend"}},
		{metrics(creatives.Metrics{Spend: new(0.0)}), rules.Violation{"metrics.currency", "required_with", "metrics.currency is required together with metrics.spend"}},
		{metrics(creatives.Metrics{Currency: new("")}), rules.Violation{"metrics.currency", "iso4217", "metrics.currency must be a currency code of ISO 4217 in capitals, such as EUR"}},
		{metrics(creatives.Metrics{Currency: new("eur")}), rules.Violation{"metrics.currency", "iso4217", "metrics.currency must be a currency code of ISO 4217 in capitals, such as EUR"}},
		{metrics(creatives.Metrics{Currency: new("€")}), rules.Violation{"metrics.currency", "iso4217", "metrics.currency must be a currency code of ISO 4217 in capitals, such as EUR"}},
		{metrics(creatives.Metrics{Impressions: new(int64(-1))}), rules.Violation{"metrics.impressions", "gte", "metrics.impressions must be at least 0"}},
		{metrics(creatives.Metrics{Clicks: new(int64(-1))}), rules.Violation{"metrics.clicks", "gte", "metrics.clicks must be at least 0"}},
		{metrics(creatives.Metrics{CTR: new(-1.0)}), rules.Violation{"metrics.ctr", "gte", "metrics.ctr must be at least 0"}},
		{metrics(creatives.Metrics{CTR: new(math.NaN())}), rules.Violation{"metrics.ctr", "gte", "metrics.ctr must be at least 0"}},
		{source(origin.Source{ID: "1"}), rules.Violation{"source.system", "required", "source.system is required"}},
		{source(origin.Source{System: *long(101), ID: "1"}), rules.Violation{"source.system", "max", "source.system must be at most 100 characters"}},
		{source(origin.Source{System: "\x00", ID: "1"}), rules.Violation{"source.system", "text", "source.system must be UTF-8 text without NUL"}},
		{source(origin.Source{System: "s"}), rules.Violation{"source.id", "required", "source.id is required"}},
		{source(origin.Source{System: "s", ID: *long(1001)}), rules.Violation{"source.id", "max", "source.id must be at most 500 characters"}},
		{source(origin.Source{System: "s", ID: "\xff"}), rules.Violation{"source.id", "text", "source.id must be UTF-8 text without NUL"}},
		// tasks
		{task(func(v *tasks.Task) { v.Title = nil }), rules.Violation{"title", "required", "title is required"}},
		{task(func(v *tasks.Task) { v.Title = new("") }), rules.Violation{"title", "min", "title must be at least 1 character"}},
		{task(func(v *tasks.Task) { v.Title = long(1001) }), rules.Violation{"title", "max", "title must be at most 1000 characters"}},
		{task(func(v *tasks.Task) { v.Title = new("\x00") }), rules.Violation{"title", "text", "title must be UTF-8 text without NUL"}},
		{task(func(v *tasks.Task) { v.Description = long(100_001) }), rules.Violation{"description", "max", "description must be at most 100000 characters"}},
		{task(func(v *tasks.Task) { v.Description = new("\x00") }), rules.Violation{"description", "text", "description must be UTF-8 text without NUL"}},
		{task(func(v *tasks.Task) { v.Status = nil }), rules.Violation{"status", "required", "status is required"}},
		{task(func(v *tasks.Task) { v.Status = new("closed") }), rules.Violation{"status", "oneof", "status must be one of open, in_progress, blocked, done, cancelled"}},
		{task(func(v *tasks.Task) { v.Priority = nil }), rules.Violation{"priority", "required", "priority is required"}},
		{task(func(v *tasks.Task) { v.Priority = new(int64(-1)) }), rules.Violation{"priority", "gte", "priority must be at least 0"}},
		{task(func(v *tasks.Task) { v.Priority = new(int64(5)) }), rules.Violation{"priority", "lte", "priority must be at most 4"}},
		{task(func(v *tasks.Task) { v.Type = new("") }), rules.Violation{"type", "min", "type must be at least 1 character"}},
		{task(func(v *tasks.Task) { v.Type = long(101) }), rules.Violation{"type", "max", "type must be at most 100 characters"}},
		{task(func(v *tasks.Task) { v.Type = new("\x00") }), rules.Violation{"type", "text", "type must be UTF-8 text without NUL"}},
		{task(func(v *tasks.Task) { v.Assignee = new("") }), rules.Violation{"assignee", "min", "assignee must be at least 1 character"}},
		{task(func(v *tasks.Task) { v.Assignee = long(201) }), rules.Violation{"assignee", "max", "assignee must be at most 200 characters"}},
		{task(func(v *tasks.Task) { v.CreatedBy = new("") }), rules.Violation{"created_by", "min", "created_by must be at least 1 character"}},
		{task(func(v *tasks.Task) { v.CreatedBy = long(201) }), rules.Violation{"created_by", "max", "created_by must be at most 200 characters"}},
		{task(func(v *tasks.Task) { v.Mode = nil }), rules.Violation{"mode", "required", "mode is required"}},
		{task(func(v *tasks.Task) { v.Mode = new("") }), rules.Violation{"mode", "oneof", "mode must be one of live, test"}},
		{task(func(v *tasks.Task) { v.Source = &origin.Source{System: "s"} }), rules.Violation{"source.id", "required", "source.id is required"}},
		// comments; JSON does not show their source, so it goes by its stored name
		{comment(func(c *comments.Comment) { c.EntityType = nil }), rules.Violation{"entity_type", "required", "entity_type is required"}},
		{comment(func(c *comments.Comment) { c.EntityType = new("creative") }), rules.Violation{"entity_type", "oneof", "entity_type must be one of task"}},
		{comment(func(c *comments.Comment) { c.EntityID = bson.ObjectID{} }), rules.Violation{"entity_id", "required", "entity_id is required"}},
		{comment(func(c *comments.Comment) { c.Author = nil }), rules.Violation{"author", "required", "author is required"}},
		{comment(func(c *comments.Comment) { c.Author = new("") }), rules.Violation{"author", "min", "author must be at least 1 character"}},
		{comment(func(c *comments.Comment) { c.Author = long(201) }), rules.Violation{"author", "max", "author must be at most 200 characters"}},
		{comment(func(c *comments.Comment) { c.Body = nil }), rules.Violation{"body", "required", "body is required"}},
		{comment(func(c *comments.Comment) { c.Body = new("") }), rules.Violation{"body", "min", "body must be at least 1 character"}},
		{comment(func(c *comments.Comment) { c.Body = long(100_001) }), rules.Violation{"body", "max", "body must be at most 100000 characters"}},
		{comment(func(c *comments.Comment) { c.Body = new("\x00") }), rules.Violation{"body", "text", "body must be UTF-8 text without NUL"}},
		{comment(func(c *comments.Comment) { c.Source = &origin.Source{ID: "1"} }), rules.Violation{"source.system", "required", "source.system is required"}},
		// history
		{entry(func(e *history.Entry) { e.EntityType = nil }), rules.Violation{"entity_type", "required", "entity_type is required"}},
		{entry(func(e *history.Entry) { e.EntityType = new("") }), rules.Violation{"entity_type", "oneof", "entity_type must be one of task"}},
		{entry(func(e *history.Entry) { e.EntityID = bson.ObjectID{} }), rules.Violation{"entity_id", "required", "entity_id is required"}},
		{entry(func(e *history.Entry) { e.Action = nil }), rules.Violation{"action", "required", "action is required"}},
		{entry(func(e *history.Entry) { e.Action = long(101) }), rules.Violation{"action", "max", "action must be at most 100 characters"}},
		{entry(func(e *history.Entry) { e.From = new("") }), rules.Violation{"from", "min", "from must be at least 1 character"}},
		{entry(func(e *history.Entry) { e.To = nil }), rules.Violation{"to", "required", "to is required"}},
		{entry(func(e *history.Entry) { e.To = long(1001) }), rules.Violation{"to", "max", "to must be at most 1000 characters"}},
		{entry(func(e *history.Entry) { e.At = nil }), rules.Violation{"at", "required", "at is required"}},
		{entry(func(e *history.Entry) { e.By = new("\x00") }), rules.Violation{"by", "text", "by must be UTF-8 text without NUL"}},
		{entry(func(e *history.Entry) { e.Source = &origin.Source{System: "s"} }), rules.Violation{"source.id", "required", "source.id is required"}},
	} {
		require.Equal(t, []rules.Violation{tc.want}, rules.Check(tc.entity), "%s %s", tc.want.Field, tc.want.Rule)
	}
}

func TestAllWrongFieldsAreReportedInTheirOrder(t *testing.T) {
	t.Parallel()
	entity := creative(func(c *creatives.Creative) {
		c.Name, c.Mode = nil, new("x")
		c.Media = &creatives.Media{Width: new(int64(0)), URL: new("x")}
		c.Metrics = &creatives.Metrics{Spend: new(-1.0)}
		c.Tags = slices.Repeat([]string{""}, 12)
		c.Attributes = map[string]string{"": "", "b": "\x00", "a": "\x00", "10": "\x00", "9": "\x00"}
		c.Source = &origin.Source{}
	})
	want := []string{"name", "mode", "media.width", "media.url", "metrics.spend", "metrics.currency"}
	for i := range 12 {
		want = append(want, "tags["+strconv.Itoa(i)+"]")
	}
	want = append(want, "attributes[]", "attributes[a]", "attributes[b]", "attributes[9]", "attributes[10]", "source.system", "source.id")
	for range 20 { // the order of a map is another one each time
		var got []string
		for _, v := range rules.Check(entity) {
			got = append(got, v.Field)
		}
		require.Equal(t, want, got)
	}
}

func TestEveryRuleInUseHasAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	known := []string{
		"required", "required_with", "oneof", "min", "max", "gte", "lte", "text", "attribute_name", "http_url", "iso4217",
		"omitempty", "dive", "keys", "endkeys", // these say where rules apply
	}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[instant.Instant]() {
			return
		}
		for f := range typ.Fields() {
			for rule := range strings.SplitSeq(f.Tag.Get("validate"), ",") {
				name, _, _ := strings.Cut(rule, "=")
				require.Contains(t, append(known, ""), name, "%s.%s: give the rule a message", typ, f.Name)
			}
			look(f.Type)
		}
	}
	for _, entity := range []any{creatives.Creative{}, tasks.Task{}, comments.Comment{}, history.Entry{}} {
		look(reflect.TypeOf(entity))
	}
}

// tagged has each form of a name.
type tagged struct {
	A *int  `bson:"stored_a"           json:"a,omitempty" validate:"required"`
	B *int  `bson:"stored_b,omitempty" json:"-"           validate:"required"`
	C *int  `bson:"stored_c,omitempty" json:",omitempty"  validate:"required"`
	D *int  `bson:"-"                                     validate:"required"`
	E *int  `json:"e"                                     validate:"required_with=F"`
	F *int  `json:"f_other,omitempty"`
	G *int  `json:"g"                                     validate:"required_with=F A"`
	H int   `json:"h"                                     validate:"ne=0"`
	I []int `json:"i"                                     validate:"min=1"`
}

func TestNamesComeFromTheTagsUpToTheirComma(t *testing.T) {
	t.Parallel()
	type wrapper struct {
		Wrapped *tagged `json:"wrapped,omitempty"`
	}
	var got []string
	for _, v := range rules.Check(wrapper{&tagged{F: new(1)}}) {
		got = append(got, v.Message)
	}
	require.Equal(t, []string{
		"wrapped.a is required", "wrapped.stored_b is required", "wrapped.stored_c is required", "wrapped.D is required",
		"wrapped.e is required together with wrapped.f_other", "wrapped.g is required together with F A",
		"wrapped.h breaks the rule ne=0", "wrapped.i must be at least 1 item",
	}, got)
}

func TestPathsAreBounded(t *testing.T) {
	t.Parallel()
	for _, key := range []string{strings.Repeat("é", 1<<20), "x" + strings.Repeat("é", 1<<20)} {
		got := rules.Check(creative(func(c *creatives.Creative) { c.Attributes = map[string]string{key: ""} }))
		require.Len(t, got, 1)
		require.Less(t, len(got[0].Field)+len(got[0].Message), 1000)
		require.Equal(t, "max", got[0].Rule)
		require.True(t, strings.HasPrefix(got[0].Message, "the name of attributes["), got[0].Message)
		require.NotContains(t, got[0].Message, "\uFFFD")
	}
}

func TestCheckingWhatIsNoEntityIsAMistakeInTheProgram(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, (*creatives.Creative)(nil), "text", 5, []creatives.Creative{{}}, map[string]any{}} {
		require.Panics(t, func() { rules.Check(v) })
	}
}
