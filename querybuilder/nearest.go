package querybuilder

import (
	"cmp"
	"slices"
	"strings"
)

const (
	mostSuggestions = 3
	longestTypo     = 40 // bytes; a longer name is no typing mistake of a known one
)

// Nearest returns the known names that are most like name, at most three. It is empty where none is like it.
func Nearest(name string, known []string) []string {
	if name == "" || len(name) > longestTypo {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, k := range known {
		d := distance(name, k)
		field, suffix := cutSuffix(k)
		asked, askedSuffix := cutSuffix(name)
		if suffix == askedSuffix && strings.Contains(field, ".") { // spend.lt for metrics.spend.lt
			d = min(d, 1+distance(lastPart(asked), lastPart(field)))
		}
		if d <= 1+len(name)/3 {
			near = append(near, candidate{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, c := range near[:min(len(near), mostSuggestions)] {
		out = append(out, c.name)
	}
	return out
}

// cutSuffix parts the name of a short form into its field and the operator behind it.
func cutSuffix(name string) (field, suffix string) {
	for _, s := range suffixes {
		if field, found := strings.CutSuffix(name, s.name); found {
			return field, s.name
		}
	}
	return name, ""
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// nearest is the tail of a message.
func nearest(name string, known []string) string {
	near := Nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// distance counts the bytes to put in, take out or change to make one text the other, ignoring case.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
