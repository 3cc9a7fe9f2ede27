package instant

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // where the machine has no zone database
)

var (
	fixedOffset = regexp.MustCompile(`^[+-]\d{2}:\d{2}$`)
	// zoneName is the form of every name in the zone database. time.LoadLocation reads files: without it there would
	// be names such as "posix/Europe/Kyiv" on some machines, and "../x" or "zone.tab" on none.
	zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}$`)
	// The database has some abbreviations among its names, without an area: EST, CET, GMT, PRC.
	abbreviation = regexp.MustCompile(`^[A-Z0-9+-]*$`)
)

// notZones are names that time.LoadLocation takes and that mean nothing, or something else on another machine: the
// process's own zone, that of a machine whose zone was never set, and the files beside the zones.
const notZones = " Local Factory Etc/Unknown "

// ParseZone reads a time zone: a name of the zone database ("Europe/Kyiv"), "UTC", or a fixed offset within ±18:00
// ("+02:00"). The empty text, "Local" and abbreviations ("EST", "CET", "GMT") are refused: people mean different
// zones by them.
func ParseZone(s string) (*time.Location, error) {
	if s == "UTC" {
		return time.UTC, nil
	}
	if fixedOffset.MatchString(s) {
		seconds, err := offset(s)
		if err != nil {
			return nil, err
		}
		return time.FixedZone(s, seconds), nil
	}
	if !zoneName.MatchString(s) || abbreviation.MatchString(s) || strings.Contains(notZones, " "+s+" ") {
		return nil, noZone(s)
	}
	zone, err := time.LoadLocation(s)
	if err != nil {
		return nil, noZone(s)
	}
	return zone, nil
}

func noZone(s string) error {
	return fmt.Errorf("%.100q is no zone name of the zone database, UTC or fixed offset", s)
}
