package httpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"catalogue/internal/httpserver"
	"catalogue/internal/problem"
)

// catalogue is a few routes of every kind.
func catalogue(r gin.IRouter) {
	r.GET("/things", httpserver.Handle(func(c *gin.Context) error {
		return httpserver.WriteJSON(c, http.StatusOK, map[string]string{"name": "<a> & b"})
	}))
	r.GET("/things/:id", httpserver.Handle(func(c *gin.Context) error {
		return httpserver.WriteJSON(c, http.StatusOK, map[string]string{"id": c.Param("id")})
	}))
	r.POST("/orders", httpserver.Handle(func(*gin.Context) error { return nil }))
	r.GET("/nan", httpserver.Handle(func(c *gin.Context) error {
		return httpserver.WriteJSON(c, http.StatusOK, map[string]float64{"x": math.NaN()})
	}))
	r.GET("/broken", httpserver.Handle(func(*gin.Context) error {
		return fmt.Errorf("read: %w", errors.New("dial tcp 10.1.2.3: refused"))
	}))
	r.GET("/away", httpserver.Handle(func(*gin.Context) error {
		return &problem.Problem{
			Code: problem.DatabaseUnavailable, Detail: "away", RetryAfter: 2 * time.Second, Cause: errors.New("no server"),
		}
	}))
	r.GET("/panic", httpserver.Handle(func(*gin.Context) error { panic("a bug") }))
	r.GET("/half", httpserver.Handle(func(c *gin.Context) error {
		c.Header("Content-Length", "100")
		_, _ = c.Writer.WriteString("half of it")
		panic("a bug")
	}))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, catalogue)
	for _, c := range []struct {
		name, method, target string
		status               int
		contains             string
		headers              map[string]string
	}{
		{"a list", "GET", "/things", 200, `{"name":"<a> & b"}`, map[string]string{
			"Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": "19",
		}},
		{"escaped path", "GET", "/things/%61B", 200, `{"id":"aB"}`, nil},
		{"semicolon", "GET", "/things?limit=5;sort=name", 422, `"code":"query_malformed"`, nil},
		{"bad escape", "GET", "/things?cursor=%ZZ", 422, `"code":"query_malformed"`, nil},
		{"bad escape on a health check", "GET", "/healthz?%", 422, `"code":"query_malformed"`, nil},
		{"bad escape on an unknown route", "GET", "/nothing?cursor=%ZZ", 404, `"code":"not_found"`, nil},
		{"bad escape with a wrong method", "POST", "/things?%ZZ", 405, `"code":"method_not_allowed"`, nil},
		{"unknown route", "GET", "/nothing", 404, `"instance":"/nothing"`, map[string]string{
			"Content-Type": "application/problem+json", "Cache-Control": "no-store",
		}},
		{"trailing slash", "GET", "/things/", 404, `"code":"not_found"`, map[string]string{"Location": ""}},
		{"no trailing slash after an id", "GET", "/things/1/", 404, `"code":"not_found"`, nil},
		{"doubled slash", "GET", "//things", 404, `"code":"not_found"`, nil},
		{"another case", "GET", "/Things", 404, `"code":"not_found"`, nil},
		{"wrong method", "DELETE", "/things", 405, `"code":"method_not_allowed"`, map[string]string{"Allow": "GET, HEAD"}},
		{"HEAD where there is no GET", "HEAD", "/orders", 405, "", map[string]string{"Allow": "POST"}},
		{"HEAD", "HEAD", "/things", 200, "", map[string]string{"Content-Length": "19", "Content-Type": "application/json"}},
		{"HEAD of a problem", "HEAD", "/nothing", 404, "", map[string]string{"Content-Type": "application/problem+json"}},
		{"what JSON cannot say", "GET", "/nan", 500, `"code":"internal"`, nil},
		{"internal error", "GET", "/broken", 500, `"detail":"The server failed to answer`, nil},
		{"unavailable", "GET", "/away", 503, `"code":"database_unavailable"`, map[string]string{"Retry-After": "2"}},
		{"panic", "GET", "/panic", 500, `"code":"internal"`, nil},
		{"healthz", "GET", "/healthz", 200, `{"status":"ok"}`, nil},
		{"readyz", "GET", "/readyz", 200, `{"status":"ready"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer, body := (&running{t: t, addr: s.addr}).send(c.method + " " + c.target + " HTTP/1.1\r\nHost: x\r\n\r\n")
			require.Equal(t, c.status, answer.StatusCode, body)
			require.NotContains(t, body, "10.1.2.3")
			if c.method == http.MethodHead {
				require.Empty(t, body)
			} else {
				require.Contains(t, body, c.contains)
				require.True(t, json.Valid([]byte(body)))
			}
			for name, want := range c.headers {
				require.Equal(t, want, answer.Header.Get(name), name)
			}
			require.NotEmpty(t, answer.Header.Get("X-Request-Id"))
		})
	}
}

func TestHeadHasTheLengthOfGet(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, func(r gin.IRouter) {
		r.GET("/long", httpserver.Handle(func(c *gin.Context) error {
			return httpserver.WriteJSON(c, http.StatusOK, strings.Repeat("x", 100_000))
		}))
	})
	get, body := s.get("/long")
	head, none := s.send("HEAD /long HTTP/1.1\r\nHost: x\r\n\r\n")
	require.Empty(t, none)
	require.EqualValues(t, len(body), get.ContentLength)
	require.Equal(t, get.ContentLength, head.ContentLength)
	require.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"))
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, given, want string }{
		{"none", "", "made"},
		{"sane", "abc-123/~", "abc-123/~"},
		{"the longest", strings.Repeat("x", 128), strings.Repeat("x", 128)},
		{"too long", strings.Repeat("x", 129), "made"},
		{"a space", "a b", "made"},
		{"not ASCII", "é", "made"},
		{"a tab", "a\tb", "made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, httpserver.Options{NewRequestID: func() string { return "made" }}, catalogue)
			answer, body := s.send("GET /broken HTTP/1.1\r\nHost: x\r\nX-Request-Id: " + c.given + "\r\n\r\n")
			require.Equal(t, c.want, answer.Header.Get("X-Request-Id"))
			var doc struct {
				RequestID string `json:"request_id"`
			}
			require.NoError(t, json.Unmarshal([]byte(body), &doc))
			require.Equal(t, c.want, doc.RequestID)
			require.Equal(t, c.want, s.log.one(t, "request")["request_id"])
			require.Equal(t, c.want, s.log.one(t, "request failed")["request_id"])
		})
	}
}

func TestRequestIDsAreMade(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, nil)
	first, _ := s.get("/healthz")
	second, _ := s.get("/healthz")
	require.NotEqual(t, first.Header.Get("X-Request-Id"), second.Header.Get("X-Request-Id"))
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request, route, level string
		status                float64
	}{
		{"GET /things?cursor=s3cr3t", "/things", "INFO", 200},
		{"HEAD /things?cursor=s3cr3t", "/things", "INFO", 200},
		{"GET /things/7?cursor=s3cr3t;", "/things/:id", "WARN", 422},
		{"GET /nothing?cursor=s3cr3t", "", "WARN", 404},
		{"GET /broken?cursor=s3cr3t", "/broken", "ERROR", 500},
		{"GET /away?cursor=s3cr3t", "/away", "ERROR", 503},
		{"GET /healthz", "/healthz", "DEBUG", 200},
	} {
		t.Run(c.request, func(t *testing.T) {
			t.Parallel()
			s := start(t, httpserver.Options{}, catalogue)
			_, body := s.send(c.request + " HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
			line := s.log.one(t, "request")
			method, target, _ := strings.Cut(c.request, " ")
			path, _, _ := strings.Cut(target, "?")
			require.Equal(t, method, line["method"])
			require.Equal(t, path, line["path"])
			require.Equal(t, c.route, line["route"])
			require.Equal(t, c.level, line["level"])
			require.InEpsilon(t, c.status, line["status"], 0)
			require.EqualValues(t, len(body), line["bytes"])
			require.Equal(t, "127.0.0.1", line["client_ip"], "no proxy is trusted unless it is named")
			require.Contains(t, line, "duration_ms")
			require.NotContains(t, s.log.String(), "s3cr3t")
		})
	}
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{TrustedProxies: []string{"127.0.0.0/8"}}, catalogue)
	s.send("GET /things HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
	require.Equal(t, "1.2.3.4", s.log.one(t, "request")["client_ip"])

	_, err := httpserver.New(httpserver.Options{Logger: testLogger(), TrustedProxies: []string{"proxy"}})
	require.Error(t, err)
}

func TestCauseIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/broken", "/away", "/nan"} {
		s := start(t, httpserver.Options{}, catalogue)
		s.get(target)
		s.log.one(t, "request")
		line := s.log.one(t, "request failed")
		require.Equal(t, "ERROR", line["level"], "as the line of the request")
		require.NotEmpty(t, line["error"])
	}
	s := start(t, httpserver.Options{}, catalogue)
	s.get("/nothing")
	s.log.one(t, "request")
	require.Empty(t, s.log.lines(t, "request failed"), "a client's mistake is no failure")
}

func TestPanicIsLoggedWithItsStack(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, catalogue)
	s.get("/panic")
	line := s.log.one(t, "request failed")
	require.Equal(t, "panic: a bug", line["error"])
	require.Contains(t, line["stack"], "requests_test.go")
	require.EqualValues(t, 500, s.log.one(t, "request")["status"])

	after, _ := s.get("/things")
	require.Equal(t, 200, after.StatusCode)
}

func TestPanicInTheMiddleCutsTheAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{}, catalogue)
	answer, err := http.Get("http://" + s.addr + "/half") //nolint:noctx // ends by itself
	if err == nil {
		defer func() { require.NoError(t, answer.Body.Close()) }()
		_, err = answer.Body.Read(make([]byte, 200))
		for err == nil {
			_, err = answer.Body.Read(make([]byte, 200))
		}
	}
	require.ErrorContains(t, err, "unexpected EOF")
	require.Contains(t, s.log.one(t, "request failed")["stack"], "requests_test.go")
}

func TestDeadlineLeavesTimeToAnswer(t *testing.T) {
	t.Parallel()
	const timeout = 400 * time.Millisecond
	left := make(chan time.Duration, 1)
	s := start(t, httpserver.Options{RequestTimeout: timeout}, func(r gin.IRouter) {
		r.GET("/slow", httpserver.Handle(func(c *gin.Context) error {
			end, _ := c.Request.Context().Deadline()
			left <- time.Until(end)
			<-c.Request.Context().Done()
			return &problem.Problem{Code: problem.QueryTimeout, Cause: context.DeadlineExceeded, RetryAfter: time.Second}
		}))
	})
	begin := time.Now()
	answer, body := s.get("/slow")
	require.Less(t, time.Since(begin), timeout)
	require.Equal(t, 503, answer.StatusCode)
	require.Contains(t, body, `"code":"query_timeout"`)
	require.LessOrEqual(t, <-left, timeout*3/4)
}

func TestClientThatLeavesIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{
		"canceled": context.Canceled, "whatever": errors.New("a consequence"), "nothing": nil,
		"unavailable": problem.New(problem.DatabaseUnavailable, "cut"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entered := make(chan struct{})
			s := start(t, httpserver.Options{}, func(r gin.IRouter) {
				r.GET("/slow", httpserver.Handle(func(c *gin.Context) error {
					close(entered)
					<-c.Request.Context().Done()
					if result == nil {
						return httpserver.WriteJSON(c, http.StatusOK, "nobody reads it")
					}
					return result
				}))
			})
			conn := s.dial()
			_, err := conn.Write([]byte("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"))
			require.NoError(t, err)
			<-entered
			require.NoError(t, conn.Close())

			line := s.log.one(t, "request")
			require.EqualValues(t, 499, line["status"])
			require.Equal(t, "INFO", line["level"])
			require.Empty(t, s.log.lines(t, "request failed"))
		})
	}
}

func ownFail(c *gin.Context, err error) { c.String(http.StatusGone, "%v", err) }

// Clients of some routes know errors of another form only: these routes look at their queries for themselves.
func TestQueriesThatARouteAnswersForItself(t *testing.T) {
	t.Parallel()
	s := start(t, httpserver.Options{Foreign: httpserver.Foreign{Prefix: "/own/", Fail: ownFail}}, func(r gin.IRouter) {
		for _, path := range []string{"/own/things", "/owned"} {
			r.GET(path, func(c *gin.Context) { c.String(http.StatusTeapot, c.Request.URL.RawQuery) })
		}
	})
	for target, status := range map[string]int{
		"/own/things?offset=%ZZ": http.StatusTeapot, "/own/things?a;b": http.StatusTeapot,
		"/owned?offset=%ZZ": http.StatusUnprocessableEntity, "/nothing": http.StatusNotFound,
		"/own/nothing?%ZZ": http.StatusGone, "/own/things/": http.StatusGone,
	} {
		answer, body := s.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
		require.Equal(t, status, answer.StatusCode, body)
	}
}
