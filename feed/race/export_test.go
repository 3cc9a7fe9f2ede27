package race

import "time"

// What the tests of this folder look at from outside.
var (
	Compare    = compare
	Percentile = percentile
	Reckon     = reckon
)

func (r reckoning) At(local time.Time) time.Time    { return r.at(local) }
func (r reckoning) Uncertainty() time.Duration      { return r.uncertainty }
func (r reckoning) Widen(later reckoning) reckoning { return r.widen(later) }

// ParsePage is parsePage with its result in parts.
func ParsePage(body []byte) (versions []Version, next string, err error) {
	p, err := parsePage(body)
	return p.versions, p.next, err
}
