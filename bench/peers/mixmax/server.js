'use strict';

// Pages of mongo-cursor-pagination over HTTP, to be timed beside those of the catalogue.
//
//   GET /{database}/{collection}?sort=-field&limit=50[&next=token][&fields=a,b][&hint=index]
//   → {"data": [...], "next": "token"}, where next is null on the last page
//
// MONGODB_URI is the address of the database. The first line of output is the address of this server. The process ends
// with its standard input, so that it does not outlive the one who started it.

const http = require('node:http');
const { MongoClient } = require('mongodb');
const { find } = require('mongo-cursor-pagination');

const client = new MongoClient(process.env.MONGODB_URI);

async function page(url) {
  const [, database, collection] = url.pathname.split('/').map(decodeURIComponent);
  const query = url.searchParams;
  const sort = query.get('sort');
  const params = {
    limit: Number(query.get('limit')),
    paginatedField: sort.replace(/^-/, ''),
    sortAscending: !sort.startsWith('-'),
  };
  if (query.has('next')) params.next = query.get('next');
  if (query.has('hint')) params.hint = query.get('hint');
  if (query.has('fields')) {
    params.fields = Object.fromEntries(query.get('fields').split(',').map((field) => [field, 1]));
  }
  const found = await find(client.db(database).collection(collection), params);
  return { data: found.results, next: found.hasNext ? found.next : null };
}

const server = http.createServer(async (request, response) => {
  let status = 200;
  let body;
  try {
    body = await page(new URL(request.url, 'http://localhost'));
  } catch (error) {
    status = 500;
    body = { error: String(error) };
  }
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
});

process.stdin.resume();
process.stdin.on('close', () => process.exit(0));

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
