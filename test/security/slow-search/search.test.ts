import { expect, test } from 'vitest';
import { createRandom } from '../../../src/sandbox/random.ts';
import { seedsOf, wordsOf } from './api-seeds.ts';
import { changeRequest } from './change-request.ts';
import { bodyBytesMax, bytesOf, headBytesMax, headLength, type HttpRequest } from './http-request.ts';
import { searchSlow, type CostOf, type Seed } from './search.ts';
import { shrinkRequest } from './shrink-request.ts';

const get: HttpRequest = {
  method: 'GET',
  target: '/',
  headers: [
    ['host', 'a'],
    ['accept', '*/*'],
    ['accept-encoding', 'gzip;q=0.5, br'],
  ],
  body: '',
};
const seeds: readonly Seed[] = [
  { operation: 'GET /', request: get },
  { operation: 'GET /other', request: { ...get, target: '/other', headers: [] } },
];
const valueOf = (request: HttpRequest, wanted: string) =>
  request.headers.find(([name]) => name === wanted)?.[1] ?? '';

/** The steps of a parser that looks at a run of digits once for each digit, as milliseconds. */
function stepsOf(request: HttpRequest): number {
  const runs = valueOf(request, 'accept-encoding').matchAll(/\d+/g);
  return [...runs].reduce((sum, [run]) => sum + (run.length ** 2 / 2) * 1e-6, bytesOf(request).length * 1e-5);
}

test('a parser of a header whose time grows with the square of its length is found, and by its cost', async () => {
  let asked = 0;
  const costOf: CostOf = (request) => {
    asked += 1;
    return Promise.resolve(request.target.startsWith('/o') ? 0.5 : stepsOf(request));
  };
  const search = { seed: 2, executions: 20_000, slowMs: 50 };
  const report = await searchSlow(seeds, ['q', 'gzip'], costOf, search);
  const [found] = report.findings;
  expect(report.findings).toHaveLength(1);
  expect(found?.operation).toBe('GET /');
  expect(found?.costs).toHaveLength(3);
  expect(Math.min(...(found?.costs ?? []))).toBeGreaterThan(50);
  // Made small: nothing is left but the header, with hardly more digits than it takes.
  expect(found?.request.headers.map(([name]) => name)).toEqual(['accept-encoding']);
  expect(found?.request.headers[0]?.[1]?.length).toBeLessThan(14_000);
  expect(asked).toBeGreaterThan(report.executions);
});

test('a cost that is not there the second time is no finding', async () => {
  let asked = 0;
  const costOf: CostOf = () => Promise.resolve((asked += 1) % 4 === 0 ? 500 : 1);
  const report = await searchSlow(seeds, ['a'], costOf, { seed: 1, executions: 500, slowMs: 50 });
  expect(report.findings).toEqual([]);
});

test('the same seed tries the same requests', async () => {
  const run = async () => {
    const tried: string[] = [];
    const costOf: CostOf = (request) => {
      tried.push(bytesOf(request).toString('latin1'));
      return Promise.resolve(stepsOf(request));
    };
    await searchSlow(seeds, ['a'], costOf, { seed: 5, executions: 300, slowMs: 1e9 });
    return tried;
  };
  expect(await run()).toEqual(await run());
});

test('changed requests fit into what Node and the API take, and cannot break out of their lines', () => {
  const random = createRandom(3);
  let request: HttpRequest = { ...get, method: 'POST', body: '{"url":"a","list":[1]}' };
  for (let i = 0; i < 500; i += 1) {
    request = i % 20 === 0 ? { ...get, method: 'POST', body: '{"url":"a","list":[1]}' } : request;
    request = changeRequest(request, get, ['a', 'b\r\nc', '\u{1F600}'], random);
    expect(headLength(request)).toBeLessThanOrEqual(headBytesMax + 200);
    expect(Buffer.byteLength(request.body)).toBeLessThanOrEqual(bodyBytesMax);
    const line = `${request.target}${request.headers.flat().join('')}`;
    expect(/[\r\n]/.exec(line)?.index ?? 'in one line').toBe('in one line');
  }
});

test('what is slow is made as small as it gets', async () => {
  const isSlow = async ({ body }: HttpRequest) => body.includes('x'.repeat(100));
  const long = { ...get, body: `${'a'.repeat(900)}${'x'.repeat(900)}` };
  const smallest = await shrinkRequest(long, isSlow);
  expect(smallest.headers).toEqual([]);
  expect(smallest.body.length).toBeLessThan(300);
});

test('each operation of a document begins with all its parameters and fields', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 3 }, w: { enum: ['x', 'y'] } },
  };
  const parameters = [
    { name: 'id', in: 'path' as const, schema: {} },
    { name: 'limit', in: 'query' as const, schema: { type: 'integer', default: 50 } },
    { name: 'key', in: 'header' as const, schema: { examples: ['k'] } },
  ];
  const post = { parameters, requestBody: { content: { 'application/json': { schema } } } };
  const [seed, refused] = seedsOf({ paths: { '/a/{id}': { post } } }, { id: '7' }, [['host', 'h']]);
  expect(seed).toEqual({
    operation: 'POST /a/{id}',
    request: {
      method: 'POST',
      target: '/a/7?limit=50',
      headers: [
        ['host', 'h'],
        ['content-type', 'application/json'],
        ['key', 'k'],
      ],
      body: '{"n":3,"w":"x"}',
    },
  });
  expect(refused?.request).toMatchObject({ method: 'REPORT', target: '/a/7' });
  expect(wordsOf({ post })).toEqual(expect.arrayContaining(['limit', 'x', 'n', 'k']));
});
