package strictjson_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/internal/instant"
	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// row has a field of every type that entities have.
type row struct {
	ID         bson.ObjectID     `json:"id"`
	Ref        bson.ObjectID     `json:"ref,omitzero"`
	Name       *string           `json:"name,omitempty"`
	Count      *int64            `json:"count,omitempty"`
	Score      *float64          `json:"score,omitempty"`
	Flag       *bool             `json:"flag,omitempty"`
	At         *instant.Instant  `json:"at,omitempty"`
	Tags       []string          `json:"tags,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	Metrics    *metrics          `json:"metrics,omitempty"`
	Rev        *int64            `json:"rev,omitempty"`
	Secret     string            `json:"-"`
}

type metrics struct {
	Spend *float64 `json:"spend,omitempty"`
	CTR   *float64 `json:"ctr,omitempty"`
	Deep  *deep    `json:"deep,omitempty"`
}

type deep struct {
	System string `json:"system,omitempty"`
	Hidden string `json:"-"`
}

func newDecoder() *strictjson.Decoder[row] { return strictjson.New[row]("id", "rev", "metrics.ctr") }

func create(t *testing.T, body string) (row, []problem.FieldError) {
	t.Helper()
	v, err := strictjson.Read([]byte(body))
	require.NoError(t, err, body)
	return newDecoder().Create(v)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	got, wrong := create(t, `{
		"ref": "00112233445566778899AABB", "name": "n", "count": 1e3, "score": -0.0, "flag": false, "at": "2026-01-31T13:00:00.1239+01:00",
		"tags": ["b", "a", ""], "attributes": {"k": "v", "gone": null}, "metrics": {"spend": 5, "deep": {"system": "s"}}}`)
	require.Empty(t, wrong)
	at := instant.MustParse("2026-01-31T12:00:00.123Z")
	ref, err := bson.ObjectIDFromHex("00112233445566778899aabb")
	require.NoError(t, err)
	require.Equal(t, row{
		Ref: ref, Name: new("n"), Count: new(int64(1000)), Score: new(0.0), Flag: new(false), At: &at,
		Tags: []string{"b", "a", ""}, Attributes: map[string]string{"k": "v"},
		Metrics: &metrics{Spend: new(5.0), Deep: &deep{System: "s"}},
	}, got)
	require.False(t, math.Signbit(*got.Score), "there is no negative zero")
}

func TestCreateTakesNullAndEmptyForAbsent(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"{}", `{"ref": null, "name": null, "count": null, "score": null, "flag": null, "at": null, "tags": null, "attributes": null, "metrics": null}`,
		`{"tags": [], "attributes": {}, "metrics": {}}`, `{"attributes": {"a": null}, "metrics": {"spend": null, "deep": {"system": null}}}`,
	} {
		got, wrong := create(t, body)
		require.Empty(t, wrong, body)
		require.Equal(t, row{}, got, body)
	}
}

func TestWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for body, given := range map[string]string{
		"null": "null", "[]": "an array", `"x"`: "a text", "1.5": "1.5", "true": "true",
	} {
		got, wrong := create(t, body)
		require.Equal(t, row{}, got)
		require.Equal(t, []problem.FieldError{
			{Field: "", Code: problem.FieldType, Message: "the body must be an object, not " + given},
		}, wrong)
	}
}

func TestValuesOfAnotherType(t *testing.T) {
	t.Parallel()
	for field, values := range map[string][]string{
		"ref":        {`"x"`, "5", `"00112233445566778899aab"`, `"000000000000000000000000"`, `""`, "{}"},
		"name":       {"5", "true", "[]", "{}"},
		"count":      {"1.5", `"5"`, "9223372036854775808", "-9223372036854775809", "1e400", "true", "[5]", "{}"},
		"score":      {`"5"`, "1e400", "-1e400", "false", "[]", "{}"},
		"flag":       {"0", "1", `"true"`, "[]", "{}"},
		"at":         {"5", `""`, `"2026-01-31"`, `"2026-01-31T12:00:00"`, `"2026-02-30T12:00:00Z"`, `"0000-01-01T00:00:00Z"`, "{}"},
		"tags":       {`"x"`, "5", "{}", "true"},
		"attributes": {`"x"`, "5", "[]", "true"},
		"metrics":    {`"x"`, "5", "[]", "false"},
	} {
		for _, value := range values {
			_, wrong := create(t, `{"`+field+`": `+value+`}`)
			require.Len(t, wrong, 1, "%s %s", field, value)
			require.Equal(t, field, wrong[0].Field)
			require.Equal(t, problem.FieldType, wrong[0].Code)
			require.True(t, strings.HasPrefix(wrong[0].Message, field+" must be "), wrong[0].Message)
		}
	}
}

func TestEverythingIsToldAtOnce(t *testing.T) {
	t.Parallel()
	got, wrong := create(t, `{
		"Name": "a", "name": "kept", "name": "b", "\u017fcore": 1, "secret": "x", "Secret": "x", "-": 1, "id": "00112233445566778899aabb", "rev": null,
		"count": 1.5, "tags": ["x", null, 5, "\ud800"],
		"attributes": {"a.b": 1, "c": "\u0000", "d": "kept", "d": "e", "\ud800": "f", "g": ["h"]},
		"metrics": {"ctr": 0.5, "spend": "1", "CTR": 1, "deep": {"Hidden": "x", "system": 5}}, "": 1}`)
	type told struct {
		field string
		code  problem.Code
	}
	all := make([]told, 0, len(wrong))
	messages := map[string]string{}
	for _, e := range wrong {
		all = append(all, told{e.Field, e.Code})
		messages[e.Field] = e.Message
	}
	require.Equal(t, []told{
		{"name", problem.FieldRepeated},
		{"Name", problem.FieldUnknown},
		{"ſcore", problem.FieldUnknown},
		{"secret", problem.FieldUnknown},
		{"Secret", problem.FieldUnknown},
		{"-", problem.FieldUnknown},
		{"id", problem.FieldReadOnly},
		{"rev", problem.FieldReadOnly},
		{"count", problem.FieldType},
		{"tags[1]", problem.FieldType},
		{"tags[2]", problem.FieldType},
		{"tags[3]", problem.FieldText},
		{"attributes[d]", problem.FieldRepeated},
		{`attributes[\ud800]`, problem.FieldText},
		{"attributes[a.b]", problem.FieldType},
		{"attributes[c]", problem.FieldText},
		{"attributes[g]", problem.FieldType},
		{"metrics.ctr", problem.FieldReadOnly},
		{"metrics.spend", problem.FieldType},
		{"metrics.CTR", problem.FieldUnknown},
		{"metrics.deep.Hidden", problem.FieldUnknown},
		{"metrics.deep.system", problem.FieldType},
		{`""`, problem.FieldUnknown},
	}, all)
	require.Equal(t, "Name is unknown; names are exact: name", messages["Name"])
	require.Equal(t, "count must be a whole number of 64 bits, not 1.5", messages["count"])
	require.Equal(t, "metrics.spend must be a number of at most 1.8e308, not a text", messages["metrics.spend"])
	require.Equal(t, "tags[1] must be a text, not null", messages["tags[1]"])
	require.Equal(t, "rev is read-only", messages["rev"])
	require.Equal(t, []string{"ref", "name", "count", "score", "flag", "at", "tags", "attributes", "metrics"}, wrong[1].Allowed,
		"those that a client may give")
	require.Equal(t, "kept", *got.Name)
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100_000)
	_, wrong := create(t, `{"`+long+`": 1, "attributes": {"`+long+`": 1}, "count": `+strings.Repeat("9", 100_000)+`}`)
	require.Len(t, wrong, 3)
	for _, e := range wrong {
		require.Less(t, len(e.Field)+len(e.Message), 400)
	}
}

// A request of many is read from the outside in: each item's data by a decoder of its own.
func TestValuesForAnotherDecoder(t *testing.T) {
	t.Parallel()
	type envelope struct {
		Items []strictjson.Value `json:"items"`
	}
	type operation struct {
		Op   *string          `json:"op"`
		Data strictjson.Value `json:"data"`
	}
	v, err := strictjson.Read([]byte(`{"items": [{"op": "create", "data": {"name": "a", "name": "b"}}, {"op": "\ud800", "data": null}, 5], "x": 1}`))
	require.NoError(t, err)
	outer, wrong := strictjson.New[envelope]().Create(v)
	require.Len(t, wrong, 1)
	require.Equal(t, "x", wrong[0].Field)
	require.Len(t, outer.Items, 3)

	first, wrong := strictjson.New[operation]().Create(outer.Items[0])
	require.Empty(t, wrong)
	require.Equal(t, "create", *first.Op)
	_, wrong = newDecoder().Create(first.Data)
	require.Equal(t, "name", wrong[0].Field)

	second, wrong := strictjson.New[operation]().Create(outer.Items[1])
	require.Equal(t, problem.FieldText, wrong[0].Code)
	require.True(t, second.Data.IsZero())
	_, wrong = strictjson.New[operation]().Create(outer.Items[2])
	require.Equal(t, problem.FieldType, wrong[0].Code)
}

func TestMistakesInTheProgramPanic(t *testing.T) {
	t.Parallel()
	type unnamed struct {
		A *string
	}
	type twice struct {
		A *string `json:"a"`
		B *string `json:"a"` //nolint:govet // the mistake that is looked for
	}
	type untyped struct {
		A any `json:"a"`
	}
	require.Panics(t, func() { strictjson.New[unnamed]() })
	require.Panics(t, func() { strictjson.New[twice]() })
	require.Panics(t, func() { strictjson.New[untyped]() })
	require.Panics(t, func() { strictjson.New[row]("metrics.nothing") })
}
