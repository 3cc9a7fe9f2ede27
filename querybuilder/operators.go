package querybuilder

// Operator is what a rule asks of a field, whatever a front end calls it.
type Operator int

// The operators.
const (
	Equal Operator = iota + 1
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	In
	NotIn
	Between
	NotBetween
	Contains
	BeginsWith
	EndsWith
	NotContains
	NotBeginsWith
	NotEndsWith
	Null
	NotNull
	Empty
	NotEmpty
	LastDays
	NextDays
	Today
	Yesterday
	ThisWeek
	LastWeek
	ThisMonth
	LastMonth
)

// takes is what an operator wants as its value.
type takes uint8

const (
	takesOne takes = iota
	takesList
	takesTwo
	takesNothing
	takesDays
)

// operator is what is known of an Operator.
type operator struct {
	op     Operator
	react  string // the name there, empty where that component has none
	jquery string
	label  string
	takes  takes
	kinds  Kind // of the fields that have it
}

const (
	anyKind = String | Enum | Number | Date | Bool | ID | StringList
	scalar  = String | Enum | Number | Date | Bool | ID
	ordered = String | Number | Date
	listed  = String | Enum | Number | Date | ID | StringList
	textual = String | StringList
)

// operators are in the order of the constants; the first of a kind is what a screen offers first.
var operators = [...]operator{
	{Equal, "=", "equal", "=", takesOne, scalar | StringList},
	{NotEqual, "!=", "not_equal", "!=", takesOne, scalar | StringList},
	{Less, "<", "less", "<", takesOne, ordered},
	{LessOrEqual, "<=", "less_or_equal", "<=", takesOne, ordered},
	{Greater, ">", "greater", ">", takesOne, ordered},
	{GreaterOrEqual, ">=", "greater_or_equal", ">=", takesOne, ordered},
	{In, "in", "in", "in", takesList, listed},
	{NotIn, "notIn", "not_in", "not in", takesList, listed},
	{Between, "between", "between", "between", takesTwo, ordered},
	{NotBetween, "notBetween", "not_between", "not between", takesTwo, ordered},
	{Contains, "contains", "contains", "contains", takesOne, textual},
	{BeginsWith, "beginsWith", "begins_with", "begins with", takesOne, textual},
	{EndsWith, "endsWith", "ends_with", "ends with", takesOne, textual},
	{NotContains, "doesNotContain", "not_contains", "does not contain", takesOne, textual},
	{NotBeginsWith, "doesNotBeginWith", "not_begins_with", "does not begin with", takesOne, textual},
	{NotEndsWith, "doesNotEndWith", "not_ends_with", "does not end with", takesOne, textual},
	{Null, "null", "is_null", "is absent", takesNothing, anyKind},
	{NotNull, "notNull", "is_not_null", "is present", takesNothing, anyKind},
	{Empty, "", "is_empty", "is empty", takesNothing, String},
	{NotEmpty, "", "is_not_empty", "is not empty", takesNothing, String},
	{LastDays, "last_days_interval", "last_days_interval", "in the last days", takesDays, Date},
	{NextDays, "next_days_interval", "next_days_interval", "in the next days", takesDays, Date},
	{Today, "today", "today", "today", takesNothing, Date},
	{Yesterday, "yesterday", "yesterday", "yesterday", takesNothing, Date},
	{ThisWeek, "this_week", "this_week", "this week", takesNothing, Date},
	{LastWeek, "last_week", "last_week", "last week", takesNothing, Date},
	{ThisMonth, "this_month", "this_month", "this month", takesNothing, Date},
	{LastMonth, "last_month", "last_month", "last month", takesNothing, Date},
}

// info is what is known of the operator; the zero Operator is that of a rule whose operator is unknown.
func (o Operator) info() operator {
	if o < Equal || int(o) > len(operators) {
		return operator{}
	}
	return operators[o-1]
}

// relative reports whether what the operator matches depends on the time of the query.
func (o Operator) relative() bool { return o >= LastDays }

func reactName(o operator) string  { return o.react }
func jqueryName(o operator) string { return o.jquery }
