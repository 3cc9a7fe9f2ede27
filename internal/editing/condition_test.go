package editing

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/problem"
)

func TestIfMatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []string
		rev    int64
		want   problem.Code // empty where the condition holds
	}{
		"the current one":               {[]string{`"5"`}, 5, ""},
		"one of a list":                 {[]string{`"3", "5" ,"7"`}, 5, ""},
		"a list without spaces":         {[]string{`"3","5"`}, 5, ""},
		"headers that are repeated":     {[]string{`"3"`, `"5"`}, 5, ""},
		"empty members":                 {[]string{` , "5",, `}, 5, ""},
		"weakened by a proxy":           {[]string{`W/"5"`}, 5, ""},
		"weak ones in a list":           {[]string{`W/"4", W/"5"`}, 5, ""},
		"anything":                      {[]string{"*"}, 5, ""},
		"anything, with spaces":         {[]string{" * "}, 5, ""},
		"anything, of no rev":           {[]string{"*"}, 0, ""},
		"a comma inside a tag":          {[]string{`"3,4", "5"`}, 5, ""},
		"beyond ASCII":                  {[]string{`"é", "5"`}, 5, ""},
		"an older one":                  {[]string{`"4"`}, 5, problem.PreconditionFailed},
		"another spelling":              {[]string{`"05"`, `"5.0"`, `"+5"`, `"5-gzip"`}, 5, problem.PreconditionFailed},
		"the empty tag":                 {[]string{`""`}, 5, problem.PreconditionFailed},
		"a number where there is none":  {[]string{`"0"`}, 0, problem.PreconditionFailed},
		"no quotes":                     {[]string{"5"}, 5, problem.IfMatchMalformed},
		"single quotes":                 {[]string{"'5'"}, 5, problem.IfMatchMalformed},
		"an open quote":                 {[]string{`"5`}, 5, problem.IfMatchMalformed},
		"a quote too many":              {[]string{`"5""`}, 5, problem.IfMatchMalformed},
		"two tags without a comma":      {[]string{`"5" "6"`}, 5, problem.IfMatchMalformed},
		"lower-case weakness":           {[]string{`w/"5"`}, 5, problem.IfMatchMalformed},
		"weakness behind a space":       {[]string{`W/ "5"`}, 5, problem.IfMatchMalformed},
		"weakness of nothing":           {[]string{`W/`}, 5, problem.IfMatchMalformed},
		"a space in a tag":              {[]string{`"5 "`}, 5, problem.IfMatchMalformed},
		"a star among tags":             {[]string{`"5", *`}, 5, problem.IfMatchMalformed},
		"a star before tags":            {[]string{`*, "5"`}, 5, problem.IfMatchMalformed},
		"two stars":                     {[]string{"*", "*"}, 5, problem.IfMatchMalformed},
		"a star in quotes is but a tag": {[]string{`"*"`}, 5, problem.PreconditionFailed},
		"an empty header":               {[]string{""}, 5, problem.IfMatchMalformed},
		"commas alone":                  {[]string{", ,"}, 5, problem.IfMatchMalformed},
	} {
		parsed, err := parseIfMatch(c.values)
		if err == nil {
			err = parsed.holds(c.rev)
		}
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Error(t, err, name)
		require.Equal(t, c.want, problem.Of(err).Code, name)
	}
}

func TestWithoutIfMatchOnlyThoseWritesGoOnThatDoNotNeedIt(t *testing.T) {
	t.Parallel()
	none, err := parseIfMatch(nil)
	require.NoError(t, err)
	require.NoError(t, none.holds(5))
	none.required = true
	require.Equal(t, problem.PreconditionRequired, problem.Of(none.holds(5)).Code)
}

func TestAStaleIfMatchIsToldTheCurrentTag(t *testing.T) {
	t.Parallel()
	stale := problem.Of(ofRev(4).holds(5))
	require.Equal(t, map[string]string{"ETag": `"5"`}, stale.Header)
	require.Nil(t, problem.Of(ofRev(4).holds(0)).Header, "an object without a rev has no tag")
	require.NoError(t, ofRev(5).holds(5))
}

func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{"", "*", `"5"`, `W/"5", "6"`, `"a`, `,,"5"`, `"5"x`, "\x00", `W/W/"5"`} {
		f.Add(seed, int64(5))
	}
	f.Fuzz(func(t *testing.T, header string, rev int64) {
		c, err := parseIfMatch([]string{header})
		if err != nil {
			require.Equal(t, 400, problem.Of(err).Status())
			return
		}
		require.True(t, c.given, "never read as absent")
		holds := c.holds(rev) == nil
		require.Equal(t, c.any || rev > 0 && strings.Contains(header, `"`+strconv.FormatInt(rev, 10)+`"`), holds)
	})
}
