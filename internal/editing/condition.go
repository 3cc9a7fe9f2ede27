package editing

import (
	"strconv"
	"strings"

	"catalogue/internal/listing"
	"catalogue/internal/problem"
)

// condition says which revision of an object a write is meant for.
type condition struct {
	required bool     // a write without one is refused
	given    bool     // else every revision will do
	any      bool     // given as *: there has to be an object, whatever its revision
	tags     []string // what stands between the quotes
}

// ofRev is the condition that an object has a revision.
func ofRev(rev int64) condition {
	return condition{given: true, tags: []string{strconv.FormatInt(rev, 10)}}
}

// holds compares with the revision that an object has, 0 where it has none.
func (c condition) holds(rev int64) error {
	switch {
	case !c.given && c.required:
		return problem.New(problem.PreconditionRequired,
			"Send If-Match with the ETag of the version that you have seen, or with * for any.")
	case !c.given || c.any:
		return nil
	}
	current := strconv.FormatInt(rev, 10)
	for _, tag := range c.tags {
		if rev > 0 && tag == current {
			return nil
		}
	}
	if rev <= 0 {
		return problem.New(problem.PreconditionFailed, "The object has no rev yet; only * matches it.")
	}
	p := problem.New(problem.PreconditionFailed, "The object has changed since; its rev is %d now.", rev)
	p.Header = map[string]string{"ETag": listing.ETag(&rev)}
	return p
}

// parseIfMatch reads the values of If-Match (RFC 9110, 13.1.1), which are one list. Tags count as strong: a proxy that
// compresses answers marks them as weak.
func parseIfMatch(values []string) (condition, error) {
	if len(values) == 0 {
		return condition{}, nil
	}
	c := condition{given: true}
	rest := strings.Trim(strings.Join(values, ","), " \t")
	if rest == "*" {
		c.any = true
		return c, nil
	}
	for rest != "" {
		tag, behind, ok := cutTag(rest)
		if !ok {
			return condition{}, malformedIfMatch()
		}
		c.tags = append(c.tags, tag)
		behind = strings.TrimLeft(behind, " \t")
		if behind != "" && behind[0] != ',' {
			return condition{}, malformedIfMatch()
		}
		rest = strings.TrimLeft(behind, ", \t") // empty members mean nothing
	}
	if len(c.tags) == 0 {
		return condition{}, malformedIfMatch()
	}
	return c, nil
}

// cutTag takes the tag that s begins with, without its quotes.
func cutTag(s string) (tag, behind string, ok bool) {
	s = strings.TrimPrefix(strings.TrimLeft(s, ", \t"), "W/")
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	tag, behind, ok = strings.Cut(s[1:], `"`)
	// A tag is of visible characters, and those beyond ASCII.
	return tag, behind, ok && !strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func malformedIfMatch() error {
	return problem.New(problem.IfMatchMalformed, `If-Match is a list of ETags in quotes, such as "5", or *.`)
}
