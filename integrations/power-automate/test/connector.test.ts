import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { deriveFiles, readDocument } from '../derive/files.ts';
import { importConnector, type Connector } from './emulator/definition.ts';
import { brokenRules } from './rules.ts';

const document = readDocument();

const asText = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

async function openApiErrors(text: string): Promise<unknown> {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(text);
  assert.equal(validator.version, '2.0');
  return valid ? [] : errors;
}

test("the files are those that follow from the daemon's document; otherwise run `npm run derive`", async () => {
  const files = await deriveFiles(await document, { kind: 'each connection' });
  assert.deepEqual(Object.keys(files), ['apiDefinition.swagger.json', 'apiProperties.json']);
  for (const [name, text] of Object.entries(files)) assert.equal(asText(name), text, name);
});

test('the definition is valid OpenAPI 2.0, smaller than the megabyte that may be imported', async () => {
  const text = asText('apiDefinition.swagger.json');
  assert.deepEqual(await openApiErrors(text), []);
  assert.ok(text.length < 1_000_000);
});

test("the definition and the properties keep Microsoft's rules", () => {
  assert.deepEqual(brokenRules(importConnector()), []);
});

test('a definition for one host needs no policy: it has a host and no path of its own', async () => {
  const files = await deriveFiles(await document, { kind: 'host', host: 'filings.agency.example' });
  const text = files['apiDefinition.swagger.json'] ?? '';
  assert.deepEqual(Object.keys(files), ['apiDefinition.swagger.json']);
  assert.deepEqual(await openApiErrors(text), []);
  const { host, paths } = JSON.parse(text) as { host: string; paths: object };
  assert.equal(host, 'filings.agency.example');
  assert.deepEqual(
    Object.keys(paths).filter((path) => !path.startsWith('/v1/')),
    [],
  );
});

// A change of the files, and the rule that it breaks.
const breaks: readonly [from: string, to: string, broken: RegExp][] = [
  ['"x-ms-notification-url":true', '"x-ms-notification-url-":true', /unknown extension/],
  ['"x-ms-trigger":"single"', '"x-ms-trigger":"batch"', /no single trigger/],
  ['"x-ms-visibility":"internal","x-ms-notification-url"', '"x-ms-notification-url"', /not one hidden field/],
  ['"x-ms-notification-content":', '"x-ms-content":', /does not describe its notifications/],
  ['"delete":{', '"patch":{', /no operation removes/],
  ['"summary":"Get a filing"', '"summary":"Get filing/"', /GetFiling: summary/],
  ['"x-ms-summary":"Search Text"', '"x-ms-summary":"search text"', /not in title case/],
  ['"x-nullable":true', '"nullable":true', /has nullable/],
  ['"type":"string","x-nullable":true', '"type":["string","null"]', /several types/],
  ['"value-path":"account"', '"value-path":"name"', /value-path leads nowhere/],
  ['"name":"q","in":"query"', '"name":"authorization","in":"header"', /the key of the connection goes there/],
  ['"operationId":"GetFiling"', '"operationId":"ListFilings"', /stands twice/],
  ['#1f5fd0', '#007ee5', /the colour/],
  ["@connectionParameters('address')", "@connectionParameters('host')", /does not ask for/],
  ['["WhenAFilingIsRejected"]', '["WhenRejected"]', /which there is not/],
];

for (const [from, to, broken] of breaks) {
  test(`a rule notices ${to}`, () => {
    const text = JSON.stringify(importConnector());
    assert.ok(text.includes(from), `${from} stands nowhere`);
    const rules = brokenRules(JSON.parse(text.replaceAll(from, to)) as Connector);
    assert.ok(
      rules.some((rule) => broken.test(rule)),
      `none of ${JSON.stringify(rules)}`,
    );
  });
}
