package feed

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"catalogue/internal/httpserver"
	"catalogue/internal/problem"
)

// Where a failure lies.
const (
	inQuery  = "querystring"
	inURL    = "url"
	inServer = "server"
)

// failure is an error in the feed's own shape. Crawlers go by the status: at 404 they drop their offset, at 429 they
// pause, at most others they ask again at once.
type failure struct {
	status      int
	location    string // inQuery, inURL or inServer
	name        string // the parameter
	description string
	retryAfter  time.Duration // zero where trying again does not help
	cause       error         // for the log; nil where the client is at fault
}

// failureDocument is what clients see.
type failureDocument struct {
	Status string          `json:"status"`
	Errors []failureDetail `json:"errors"`
}

type failureDetail struct {
	Location    string `json:"location"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// invalidOffset says the offset back as it came, unless it is oversized.
func invalidOffset(sent string) *failure {
	if len(sent) > maxOffset {
		sent = problem.Short(sent)
	}
	return &failure{
		status: http.StatusNotFound, location: inQuery, name: paramOffset, description: "Invalid offset provided: " + sent,
	}
}

// malformedQuery is a 404 too: page one instead would be taken for what was asked for.
func malformedQuery() *failure {
	return &failure{
		status: http.StatusNotFound, location: inQuery, name: "query",
		description: "The query cannot be read: parameters are separated by & and percent-encoded.",
	}
}

func notFound() *failure {
	return &failure{status: http.StatusNotFound, location: inURL, name: "id", description: "Not Found"}
}

func tooMany(wait time.Duration) *failure {
	return &failure{
		status: http.StatusTooManyRequests, location: inServer, name: "rate", description: "Too many requests",
		retryAfter: wait,
	}
}

// failed is an error from elsewhere. Its cause is for the log alone.
func failed(err error) *failure {
	p, location := problem.Of(err), inServer
	if p.Status() < http.StatusInternalServerError {
		location = inURL // a path or a method that there is none of
	}
	return &failure{
		status: p.Status(), location: location, name: string(p.Code), description: p.Detail,
		retryAfter: p.RetryAfter, cause: err,
	}
}

// write answers with the failure.
func (f *failure) write(w http.ResponseWriter) {
	body, _ := httpserver.EncodeJSON(failureDocument{ // texts only: it cannot fail
		Status: "error", Errors: []failureDetail{{Location: f.location, Name: f.name, Description: f.description}},
	})
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	httpserver.WriteBody(w, f.status, body)
}
