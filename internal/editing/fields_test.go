package editing

import (
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/problem"
	"catalogue/internal/rules"
	"catalogue/internal/strictjson"
)

// thing has a field of each kind that rules treat in another way.
type thing struct {
	Name   *string           `json:"name"   validate:"required,min=1,max=5"`
	Status *string           `json:"status" validate:"omitempty,oneof=on off"`
	Size   *size             `json:"size"`
	Tags   []string          `json:"tags"   validate:"max=2,dive,min=1"`
	Notes  map[string]string `json:"notes"  validate:"dive,keys,max=3,endkeys,max=3"`
	Owner  *string           `json:"owner"  validate:"required"`
}

type size struct {
	Amount *int64  `json:"amount" validate:"omitempty,gte=0"`
	Unit   *string `json:"unit"   validate:"required_with=Amount"`
}

func things() *endpoint[thing] {
	return newEndpoint(Services{}, Resource[thing]{
		ReadOnly: []string{"owner"},
		Defaults: func(v *thing) {
			if v.Status == nil {
				v.Status = new("on")
			}
		},
	})
}

func value(t *testing.T, body string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Read([]byte(body))
	require.NoError(t, err)
	return v
}

// wrongFields are the paths and codes of an error, in order.
func wrongFields(err error) []string {
	if err == nil {
		return nil
	}
	var out []string
	for _, e := range problem.Of(err).Errors {
		out = append(out, e.Field+"="+string(e.Code))
	}
	return out
}

func TestANewObjectIsToldEverythingThatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{"name": "a"}`:                    nil,
		`{}`:                               {"name=field_invalid"},
		`{"name": null}`:                   {"name=field_invalid"},
		`{"name": 5}`:                      {"name=field_type"},
		`{"Name": "a"}`:                    {"Name=field_unknown", "name=field_invalid"},
		`{"owner": "a"}`:                   {"owner=field_read_only", "name=field_invalid"},
		`[]`:                               {"=field_type"},
		`null`:                             {"=field_type"},
		`{"name": "a", "status": "x"}`:     {"status=field_invalid"},
		`{"name": "a", "status": "off"}`:   nil,
		`{"name": "a", "tags": [1, ""]}`:   {"tags[0]=field_type"},
		`{"name": "a", "tags": ["b", ""]}`: {"tags[1]=field_invalid"},
		`{"name": "toolong", "zz": 1, "size": {"amount": -1, "x": 1}}`: {
			"zz=field_unknown", "size.x=field_unknown", "name=field_invalid", "size.amount=field_invalid", "size.unit=field_invalid",
		},
		`{"name": "a", "size": {"amount": 1, "unit": 5}}`: {"size.unit=field_type"},
		`{"name": "a", "notes": {"long": "b"}}`:           {"notes[long]=field_invalid"},
	} {
		_, err := things().newItem(value(t, body))
		require.Equal(t, want, wrongFields(err), body)
	}
}

func TestAWrongChoiceListsTheRightOnes(t *testing.T) {
	t.Parallel()
	_, err := things().newItem(value(t, `{"name": "a", "status": "x"}`))
	require.Equal(t, []problem.FieldError{{
		Field: "status", Code: problem.FieldInvalid, Message: "status must be one of on, off", Allowed: []string{"on", "off"},
	}}, problem.Of(err).Errors)
}

func TestDefaultsAreForWhatWasNotSaid(t *testing.T) {
	t.Parallel()
	item, err := things().newItem(value(t, `{"name": "a"}`))
	require.NoError(t, err)
	require.Equal(t, new("on"), item.Status)
	item, err = things().newItem(value(t, `{"name": "a", "status": "off"}`))
	require.NoError(t, err)
	require.Equal(t, new("off"), item.Status)
}

func TestAPatchIsToldWhatIsWrongWhateverItMeets(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{}`:                                     nil,
		`{"name": null}`:                         {"name=field_invalid"},
		`{"name": ""}`:                           {"name=field_invalid"},
		`{"status": null}`:                       nil,
		`{"size": {"amount": 1}}`:                nil, // the stored one may have a unit
		`{"size": {"amount": 1, "unit": null}}`:  {"size.unit=field_invalid"},
		`{"size": null}`:                         nil,
		`{"tags": ["a", "", "c"]}`:               {"tags=field_invalid"},
		`{"notes": {"a": null, "b": "toolong"}}`: {"notes[b]=field_invalid"},
		`{"owner": "x", "name": "a"}`:            {"owner=field_read_only"},
		`5`:                                      {"=field_type"},
		`{"size": {"amount": "1"}, "name": 1.5e1}`: {"size.amount=field_type", "name=field_type"},
	} {
		_, err := things().newPatch(value(t, body))
		require.Equal(t, want, wrongFields(err), body)
	}
}

func TestAMergeIsRefusedForTheRulesThatItBreaksOnly(t *testing.T) {
	t.Parallel()
	stored := func() *thing { return &thing{Name: new("far too long"), Size: &size{Unit: new("m")}} }
	for body, want := range map[string][]string{
		`{"status": "on"}`:              nil, // the name is nobody's doing here
		`{"size": {"amount": 1}}`:       nil,
		`{"size": {"unit": null}}`:      nil,
		`{"size": {"amount": -1}}`:      {"size.amount=field_invalid"},
		`{"size": null, "tags": ["a"]}`: nil,
	} {
		patch, wrong := strictjson.New[thing]().Patch(value(t, body))
		require.Empty(t, wrong)
		item := stored()
		require.NotEmpty(t, rules.Check(item))
		require.Equal(t, want, wrongFields(Apply(patch, item)), body)
	}
	withoutUnit := &thing{Name: new("a"), Owner: new("o"), Size: &size{}}
	patch, _ := strictjson.New[thing]().Patch(value(t, `{"size": {"amount": 1}}`))
	require.Equal(t, []string{"size.unit=field_invalid"}, wrongFields(Apply(patch, withoutUnit)))
}

func TestWithinPutsPathsBelowAMember(t *testing.T) {
	t.Parallel()
	_, err := things().newItem(value(t, `5`))
	require.Equal(t, []problem.FieldError{{
		Field: "data", Code: problem.FieldType, Message: "data must be an object, not 5",
	}}, problem.Of(WithinError("data", err)).Errors)
	_, err = things().newItem(value(t, `{"name": 5}`))
	require.Equal(t, []string{"data.name=field_type"}, wrongFields(WithinError("data", err)))
	other := problem.New(problem.NotFound, "no")
	require.Equal(t, error(other), WithinError("data", other))
	require.NoError(t, WithinError("data", nil))
}
