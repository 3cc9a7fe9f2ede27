package querybuilder

import (
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxDays bounds the relative operators: far beyond every date that means something.
const maxDays = 1_000_000

// dayStart is the first moment of a day in a zone. Where the clocks skip midnight it is the moment that they skip to,
// where they show it twice the first of the two.
func dayStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	wall := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	from, until := t.ZoneBounds()
	switch shown := asUTC(t); {
	case shown.Before(wall):
		return until
	case shown.After(wall):
		return from
	case !from.IsZero():
		_, offset := from.Add(-time.Nanosecond).Zone()
		if earlier := wall.Add(-time.Duration(offset) * time.Second); earlier.Before(from) {
			return earlier.In(zone)
		}
	}
	return t
}

// asUTC is what the clocks show at t, read as UTC.
func asUTC(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

func daySpan(year int, month time.Month, day int, zone *time.Location) span {
	return span{
		from:  moment(dayStart(year, month, day, zone)),
		until: moment(dayStart(year, month, day+1, zone)),
		day:   true,
	}
}

func moment(t time.Time) bson.DateTime { return bson.NewDateTimeFromTime(t) }

// relative is a test of a date against the time of the query.
type relative struct {
	field string
	op    Operator
	days  int            // of LastDays and NextDays
	zone  *time.Location // of the others
}

func (r relative) compile(now time.Time) bson.D {
	switch r.op {
	case LastDays:
		return field(r.field, bson.E{Key: "$gte", Value: moment(now.UTC().AddDate(0, 0, -r.days))})
	case NextDays:
		return field(r.field,
			bson.E{Key: "$gte", Value: moment(now)},
			bson.E{Key: "$lte", Value: moment(now.UTC().AddDate(0, 0, r.days))})
	default:
		from, until := r.window(now.In(r.zone))
		return field(r.field, bson.E{Key: "$gte", Value: moment(from)}, bson.E{Key: "$lt", Value: moment(until)})
	}
}

// window is the stretch of whole days that the operator names, seen from now, a time in the zone.
func (r relative) window(now time.Time) (from, until time.Time) {
	year, month, day := now.Date()
	monday := day - (int(now.Weekday())+6)%7
	start := func(month time.Month, day int) time.Time { return dayStart(year, month, day, r.zone) }
	switch r.op {
	case Yesterday:
		return start(month, day-1), start(month, day)
	case ThisWeek:
		return start(month, monday), start(month, monday+7)
	case LastWeek:
		return start(month, monday-7), start(month, monday)
	case ThisMonth:
		return start(month, 1), start(month+1, 1)
	case LastMonth:
		return start(month-1, 1), start(month, 1)
	default:
		return start(month, day), start(month, day+1)
	}
}

func (r relative) key() string {
	name := r.op.info().react
	if r.days > 0 {
		return call(name, strconv.Quote(r.field), strconv.Itoa(r.days))
	}
	return call(name, strconv.Quote(r.field), strconv.Quote(r.zone.String()))
}

func (r relative) condition() (Condition, bool) { return Condition{Field: r.field}, true }
