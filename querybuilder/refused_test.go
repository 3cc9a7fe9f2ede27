package querybuilder

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func everyKind() Schema {
	return Schema{
		Search: []string{"name"},
		Fields: []Field{
			{Name: "name", Kind: String, FoldCase: true},
			{Name: "nick", Kind: String},
			{Name: "status", Kind: Enum, Values: []string{"active", "paused"}},
			{Name: "metrics.spend", Kind: Number},
			{Name: "metrics.limit", Kind: Number},
			{Name: "created_at", Kind: Date},
			{Name: "ended_at", Kind: Date},
			{Name: "live", Kind: Bool},
			{Name: "ref", Kind: ID},
			{Name: "tags", Kind: StringList, Short: "tag"},
		},
	}
}

func TestWrongRulesAreRefusedWithTheirPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxText)
	for document, want := range map[string][]string{
		// values
		`{"field":"name","operator":"in","value":false}`:                                               {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"between","value":[{},{}]}`:                               {"value rule_value_invalid", "value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"between","value":"0, abc"}`:                              {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"between","value":"1,2,3"}`:                               {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"between","value":"1,"}`:                                  {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"between","value":1}`:                                     {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":{"$ne":null}}`:                                         {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":[["a"]]}`:                                              {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":["a","b"]}`:                                            {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":[]}`:                                                   {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":5}`:                                                    {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":null}`:                                                 {"value rule_value_invalid"},
		`{"field":"name","operator":"="}`:                                                              {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"=","value":""}`:                                          {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"=","value":true}`:                                        {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"=","value":"NaN"}`:                                       {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"=","value":"Infinity"}`:                                  {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"=","value":1e400}`:                                       {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"=","value":9223372036854775808}`:                         {"value rule_value_invalid"},
		`{"field":"created_at","operator":"=","value":"2026-1-"}`:                                      {"value rule_value_invalid"},
		`{"field":"created_at","operator":"=","value":""}`:                                             {"value rule_value_invalid"},
		`{"field":"created_at","operator":"=","value":"2026-02-30"}`:                                   {"value rule_value_invalid"},
		`{"field":"created_at","operator":"=","value":"0000-01-01"}`:                                   {"value rule_value_invalid"},
		`{"field":"created_at","operator":"=","value":"2026-01-01T00:00:00"}`:                          {"value rule_value_invalid"},
		`{"field":"created_at","operator":"=","value":1760598968123}`:                                  {"value rule_value_invalid"},
		`{"field":"created_at","operator":"last_days_interval","value":0}`:                             {"value rule_value_invalid"},
		`{"field":"created_at","operator":"last_days_interval","value":-1}`:                            {"value rule_value_invalid"},
		`{"field":"created_at","operator":"last_days_interval","value":1.5}`:                           {"value rule_value_invalid"},
		`{"field":"created_at","operator":"next_days_interval","value":"99999999999"}`:                 {"value rule_value_invalid"},
		`{"field":"status","operator":"=","value":"Active"}`:                                           {"value rule_value_invalid"},
		`{"field":"status","operator":"in","value":"active,nope,paused,no"}`:                           {"value rule_value_invalid", "value rule_value_invalid"},
		`{"field":"live","operator":"=","value":"yes"}`:                                                {"value rule_value_invalid"},
		`{"field":"live","operator":"=","value":1}`:                                                    {"value rule_value_invalid"},
		`{"field":"ref","operator":"=","value":"abc"}`:                                                 {"value rule_value_invalid"},
		`{"field":"ref","operator":"=","value":"zzzzzzzzzzzzzzzzzzzzzzzz"}`:                            {"value rule_value_invalid"},
		`{"condition":"AND","rules":[{"field":"name","operator":"in","value":"a,b"}]}`:                 {"rules[0].value rule_value_invalid"},
		`{"field":"name","operator":"=","value":"nick","valueSource":"param"}`:                         {"valueSource rule_malformed"},
		`{"field":"name","operator":"=","value":"nobody","valueSource":"field"}`:                       {"value rule_field_unknown"},
		`{"field":"name","operator":"=","value":"$nick","valueSource":"field"}`:                        {"value rule_field_unknown"},
		`{"field":"name","operator":"=","value":"metrics.spend","valueSource":"field"}`:                {"value rule_value_invalid"},
		`{"field":"tags","operator":"=","value":"name","valueSource":"field"}`:                         {"value rule_value_invalid"},
		`{"field":"metrics.spend","operator":"between","value":"metrics.spend","valueSource":"field"}`: {"value rule_value_invalid"},

		// fields and operators
		`{"field":"$where","operator":"=","value":"1"}`:                                                                {"field rule_field_unknown"},
		`{"field":"name.$b","operator":"=","value":"1"}`:                                                               {"field rule_field_unknown"},
		`{"field":"","operator":"=","value":"1"}`:                                                                      {"field rule_field_unknown"},
		`{"field":"Name","operator":"=","value":"1"}`:                                                                  {"field rule_field_unknown"},
		`{"field":"name","operator":"$where","value":"1"}`:                                                             {"operator rule_operator_unknown"},
		`{"field":"name","operator":"equal","value":"1"}`:                                                              {"operator rule_operator_unknown"},
		`{"field":"name","operator":"is_empty"}`:                                                                       {"operator rule_operator_unknown"},
		`{"field":"name","operator":"","value":"1"}`:                                                                   {"operator rule_operator_unknown"},
		`{"field":"name","value":"1"}`:                                                                                 {"operator rule_malformed"},
		`{"field":"metrics.spend","operator":"contains","value":"1"}`:                                                  {"operator rule_operator_unsupported"},
		`{"field":"name","operator":"today"}`:                                                                          {"operator rule_operator_unsupported"},
		`{"field":"tags","operator":"<","value":"a"}`:                                                                  {"operator rule_operator_unsupported"},
		`{"condition":"AND","rules":[{"field":"name","operator":"="}]}`:                                                {"rules[0].operator rule_operator_unknown"},
		`{"condition":"AND","rules":[{"field":"~","operator":"equal"}]}`:                                               {"rules[0].field rule_field_unknown"},
		`{"condition":"AND","rules":[{"field":"name","operator":null}]}`:                                               {"rules[0].operator rule_malformed"},
		`{"condition":"AND","rules":[{"operator":"equal","value":"name"}]}`:                                            {"rules[0] rule_malformed"},
		`{"condition":"AND","rules":[{"id":null,"field":null,"type":null,"input":null,"operator":null,"value":null}]}`: {"rules[0] rule_malformed"},

		// shapes
		`{}`:                                {" rule_malformed"},
		`[]`:                                {" rule_malformed"},
		`null`:                              {" rule_malformed"},
		`"name"`:                            {" rule_malformed"},
		`{"rules":{}}`:                      {" rule_malformed"},
		`{"filter":{"rules":[]}}`:           {" rule_malformed"},
		`{"combinator":"and"}`:              {" rule_malformed"},
		`{"combinator":"where","rules":[]}`: {"combinator rule_malformed"},
		`{"combinator":null,"rules":[]}`:    {"combinator rule_malformed"},
		`{"combinator":"and","rules":[],"not":"yes"}`:                                               {"not rule_malformed"},
		`{"combinator":"and","rules":[],"muted":"yes"}`:                                             {"muted rule_malformed"},
		`{"combinator":"and","rules":[],"field":"name"}`:                                            {" rule_malformed"},
		`{"combinator":"and","rules":[5]}`:                                                          {"rules[0] rule_malformed"},
		`{"combinator":"and","rules":["and"]}`:                                                      {"rules[0] rule_malformed"},
		`{"combinator":"and","rules":[{"rules":[]}]}`:                                               {"rules[0].combinator rule_malformed"},
		`{"condition":"xor","rules":[]}`:                                                            {"condition rule_malformed"},
		`{"condition":null,"rules":[]}`:                                                             {"condition rule_malformed"},
		`{"condition":"OR","rules":[],"valid":false}`:                                               {"valid rule_malformed"},
		`{"condition":"OR","rules":[{"combinator":"or","rules":[]}]}`:                               {"rules[0].combinator rule_malformed"},
		`{"rules":["and"]}`:                                                                         {"rules[0] rule_malformed"},
		`{"rules":[{"field":"live","operator":"null"},"and"]}`:                                      {"rules rule_malformed"},
		`{"rules":[{"field":"live","operator":"null"},"where",{"field":"live","operator":"null"}]}`: {"rules[1] rule_malformed"},
		`{"rules":[{"field":"live","operator":"null"},{"field":"live","operator":"null"}]}`:         {"rules[1] rule_malformed"},
		`{"rules":[{"combinator":"and","rules":[]}]}`:                                               {"rules[0].combinator rule_malformed"},

		// text
		`{"field":"name","operator":"=","value":"a\u0000b"}`:                                      {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":"\ud800"}`:                                        {"value rule_value_invalid"},
		`{"field":"name","operator":"=","value":"\udc00\ud800"}`:                                  {"value rule_value_invalid"},
		`{"combinator":"and","rules":[{"field":"name","operator":"in","value":["\ud83dx"]}]}`:     {"rules[0].value rule_value_invalid"},
		`{"field":"name","operator":"=","value":"x` + long + `"}`:                                 {"value rule_limit"},
		`{"field":"name","operator":"in","value":["x` + long + `"]}`:                              {"value rule_limit"},
		`{"field":"name","operator":"in","value":"a, x` + long + `"}`:                             {"value rule_limit"},
		`{"field":"x` + long + `","operator":"=","value":""}`:                                     {"field rule_limit"},
		`{"field":"metrics.spend","operator":"=","value":` + strings.Repeat("1", MaxText+1) + `}`: {"value rule_limit"},

		// JSON
		``:                                    {" rule_json_malformed"},
		` `:                                   {" rule_json_malformed"},
		`{`:                                   {" rule_json_malformed"},
		`{"rules":[`:                          {" rule_json_malformed"},
		`{"rules":[,]}`:                       {" rule_json_malformed"},
		`{"rules":[{}{}]}`:                    {" rule_json_malformed"},
		`{"rules":[],}`:                       {" rule_json_malformed"},
		`{"rules" []}`:                        {" rule_json_malformed"},
		`{rules:[]}`:                          {" rule_json_malformed"},
		`{"rules":[]} x`:                      {" rule_json_malformed"},
		`{"rules":[]}{}`:                      {" rule_json_malformed"},
		"{\"rules\":[]}\x00":                  {" rule_json_malformed"},
		`{"rules":[],"id":01}`:                {" rule_json_malformed"},
		`{"rules":[],"id":1.}`:                {" rule_json_malformed"},
		`{"rules":[],"id":+1}`:                {" rule_json_malformed"},
		`{"rules":[],"id":nul}`:               {" rule_json_malformed"},
		`{"rules":[],"id":"\x"}`:              {" rule_json_malformed"},
		`{"rules":[],"id":"\u12G4"}`:          {" rule_json_malformed"},
		"{\"rules\":[],\"id\":\"\n\"}":        {" rule_json_malformed"},
		"{\"rules\":[],\"id\":\"\xff\"}":      {" rule_json_malformed"},
		`{"rules":[],"rules":[]}`:             {" rule_malformed"},
		`{"rules":[],"x":{"a":1,"\u0061":2}}`: {"x rule_malformed"},
	} {
		t.Run(document, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, wrong(t, everyKind(), document))
		})
	}
}

func TestAllWrongRulesAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	document := `{"combinator":"nand","rules":[
		{"field":"nmae","operator":"=","value":"x"},
		{"combinator":"or","rules":[
			{"field":"metrics.spend","operator":"<","value":"abc"},
			{"field":"created_at","operator":"=","value":"2026-1-"},
			{"field":"status","operator":"like","value":"x"},
			{"field":"name","operator":"=","value":"fine"}]},
		{"operator":"="},
		{"field":"name","operator":"=","value":"x` + strings.Repeat("y", MaxText) + `"}]}`
	require.Equal(t, []string{
		"combinator rule_malformed",
		"rules[0].field rule_field_unknown",
		"rules[1].rules[0].value rule_value_invalid",
		"rules[1].rules[1].value rule_value_invalid",
		"rules[1].rules[2].operator rule_operator_unknown",
		"rules[2] rule_malformed",
		"rules[3].value rule_limit",
	}, wrong(t, everyKind(), document))

	_, err := everyKind().Parse([]byte(document), time.UTC)
	var list Errors
	require.ErrorAs(t, err, &list)
	require.Contains(t, list[1].Message, "did you mean name?")
	require.Contains(t, list[1].Allowed, "metrics.spend")
	require.Contains(t, err.Error(), "rules[1].rules[1].value: ")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	rule := `{"field":"nick","operator":"=","value":"a"}`
	rules := func(n int) string {
		return `{"combinator":"or","rules":[` + strings.TrimSuffix(strings.Repeat(rule+",", n), ",") + `]}`
	}
	groups := func(n int) string {
		return strings.Repeat(`{"combinator":"and","rules":[`, n) + rule + strings.Repeat(`]}`, n)
	}
	items := func(n int) string {
		return `{"field":"nick","operator":"in","value":[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]}`
	}
	joined := func(n int) string {
		return fmt.Sprintf(`{"field":"nick","operator":"in","value":%q}`, strings.Repeat("b,", n))
	}
	characters := func(n int) string {
		return fmt.Sprintf(`{"field":"nick","operator":"=","value":%q}`, strings.Repeat("é", n))
	}
	padded := func(n int) string { return rule + strings.Repeat(" ", n-len(rule)) }
	for name, c := range map[string]struct {
		document string
		want     []string
	}{
		"100 rules":            {rules(100), nil},
		"101 rules":            {rules(101), []string{"rules[100] rule_limit"}},
		"100 rules in groups":  {`{"combinator":"or","rules":[` + rules(50) + "," + rules(50) + `]}`, nil},
		"101 rules in groups":  {`{"combinator":"or","rules":[` + rules(50) + "," + rules(51) + `]}`, []string{"rules[1].rules[50] rule_limit"}},
		"8 groups":             {groups(8), nil},
		"9 groups":             {groups(9), []string{strings.Repeat("rules[0].", 7) + "rules[0] rule_too_deep"}},
		"200 groups":           {groups(200), []string{strings.Repeat("rules[0].", 7) + "rules[0] rule_too_deep"}},
		"200 brackets":         {strings.Repeat("[", 200), []string{" rule_too_deep"}},
		"200 in a member":      {`{"rules":[],"data":` + strings.Repeat(`{"a":`, 200), []string{"data rule_too_deep"}},
		"500 items":            {items(500), nil},
		"501 items":            {items(501), []string{"value rule_limit"}},
		"500 items in a text":  {joined(500), nil},
		"501 items in a text":  {joined(501), []string{"value rule_limit"}},
		"256 characters":       {characters(256), nil},
		"257 characters":       {characters(257), []string{"value rule_limit"}},
		"16 KiB":               {padded(MaxBytes), nil},
		"16 KiB and a byte":    {padded(MaxBytes + 1), []string{" rule_limit"}},
		"limits come first":    {rules(101)[:4472], []string{"rules[100] rule_limit"}},
		"extra members nest 8": {`{"rules":[],"data":` + strings.Repeat(`[`, 8) + strings.Repeat(`]`, 8) + `}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, wrong(t, everyKind(), c.document))
		})
	}
}

func TestExtraMembersAreAllowed(t *testing.T) {
	t.Parallel()
	plain := `{"combinator":"and","rules":[{"field":"nick","operator":"=","value":"a"}]}`
	extra := `{"id":"g-1","path":[],"combinator":"AND","not":false,"muted":null,"rules":[
		{"id":"r-1","path":[0],"disabled":true,"muted":false,"valueSource":"value","field":"nick","operator":"=","value":"a","meta":{"a":[{}]}}]}`
	require.Equal(t, digest(t, everyKind(), plain), digest(t, everyKind(), extra))
}

func TestAFieldMayHaveFewerOperatorsThanItsKind(t *testing.T) {
	t.Parallel()
	schema := Schema{Fields: []Field{{Name: "secret", Kind: String, Operators: []Operator{Equal, In}}}}
	require.Nil(t, wrong(t, schema, `{"field":"secret","operator":"=","value":"a"}`))
	require.Equal(t, []string{"operator rule_operator_unsupported"}, wrong(t, schema, `{"field":"secret","operator":"!=","value":"a"}`))
	require.Equal(t, []string{"secret", "secret.eq"}, schema.ShortNames())
}
