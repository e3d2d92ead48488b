import { defineConfig } from 'oxlint';
import type { OxlintOverride } from 'oxlint';

/** What the files of a folder of `src` may import besides their own folder. */
interface Folder {
  /** Other folders and files of `src`, with all that is in them. */
  readonly may: readonly string[];
  /** What its files may import of the rest of its topmost folder; all of it where this is left out. */
  readonly own?: readonly string[];
  /** Those of the libraries with a place of their own that have it here. */
  readonly has?: readonly string[];
  /** It decides, and other folders read and write: no I/O, no clocks. */
  readonly pure?: true;
}

const fastify = ['fastify', '@fastify/*', '@scalar/*'];
// Libraries that may be imported only in the folders that have them.
const placed = [
  ...fastify,
  '@marcbachmann/cel-js',
  '@opentelemetry/*',
  'bullmq',
  'ioredis',
  'got',
  'negotiator',
  'nodemailer',
  'rate-limiter-flexible',
  'undici',
];
const io = [
  'p-queue',
  'pino',
  'prom-client',
  'node:dns*',
  'node:dns/*',
  'node:fs*',
  'node:fs/*',
  'node:http*',
  'node:net',
  'node:timers*',
  'node:timers/*',
  'node:tls',
];

// Imports go one way: polling → filings → events ← subscriptions ← delivery → callbacks → egress, with redis,
// names, secrets, http and json below all of them.
const below = ['redis', 'json', 'memory'];
const polling = [...below, 'names', 'proxy', 'waiting', 'filings', 'events', 'partner', 'accounts'];
const delivery = [...below, 'callbacks', 'subscriptions', 'events', 'secrets', 'waiting'];

const apiMay = [
  ...polling,
  ...delivery,
  'polling',
  'delivery',
  'egress',
  'http',
  'words',
  // Only the type of all stores.
  'daemon/parts/stores.ts',
];

const cli = [
  'config',
  'words',
  'daemon/stop-on-signals.ts',
  'callbacks/sign.ts',
  'subscriptions/signing-secret.ts',
  'subscriptions/subscription.ts',
  'subscriptions/not-before.ts',
  'events/event-types.ts',
  'demo',
  'standalone',
  // Only the types of the API's answers.
  'dashboard/api-types.ts',
  'api/shared/problem.ts',
];

// Files of the sandbox that all of its folders share.
const sandbox = ['accounts.ts', 'decisions.ts', 'errors.ts', 'random.ts', 'sandbox-app.ts'];

// Of several entries that match a file the last one applies: folders stand before the folders in them.
const folders: Readonly<Record<string, Folder>> = {
  json: { may: [] },
  http: { may: [], has: ['negotiator', 'fastify'] },
  memory: { may: [], pure: true },
  waiting: { may: [], pure: true },
  words: { may: ['json/cut-text.ts'], pure: true },
  names: { may: ['memory'] },
  secrets: { may: [] },
  proxy: { may: ['names', 'memory', 'waiting'] },
  redis: { may: [], own: ['connection'], has: ['ioredis'] },
  'redis/connection': { may: [], own: [], has: ['ioredis'] },
  'redis/quota': { may: [], own: ['connection', '*.ts'], has: ['ioredis'] },
  'redis/durability': { may: [], own: ['connection', '*.ts'], has: ['ioredis'] },
  'redis/server': { may: [], own: [] },
  'redis/jobs': { may: [], own: ['connection', '*.ts'], has: ['ioredis', 'bullmq'] },
  config: { may: ['egress', 'proxy', 'redis', 'polling/beliefs', 'secrets', 'tracing', 'words'] },
  accounts: { may: [...below, 'secrets'] },
  partner: { may: [...below, 'names', 'proxy', 'waiting'], has: ['got'] },
  events: { may: below },
  filings: { may: [...below, 'events', 'partner'] },
  'filings/detection': { may: [...below, 'events', 'partner', 'words'], own: [], pure: true },
  'filings/commit': { may: [...below, 'events', 'partner'], own: ['detection', '*.ts'] },
  'filings/lists': { may: [...below, 'events', 'partner', 'words'], own: ['detection', '*.ts'] },
  polling: { may: polling },
  'polling/list': { may: polling, own: [], pure: true },
  'polling/beliefs': { may: polling, own: ['list'], pure: true },
  'polling/store': { may: polling, own: ['beliefs'] },
  'polling/schedule': { may: polling, own: ['store'], has: ['bullmq'] },
  'polling/reads': { may: polling, own: ['list', 'beliefs', 'store', 'schedule'] },
  subscriptions: { may: [...below, 'events', 'secrets'] },
  'subscriptions/content-filter': { may: ['json', 'memory', 'events'], own: ['*.ts'] },
  'subscriptions/content-filter/cel': { may: ['words'], own: [], has: ['@marcbachmann/cel-js'], pure: true },
  'subscriptions/options': { may: [...below, 'events', 'egress', 'secrets'] },
  egress: { may: ['names'] },
  callbacks: {
    may: ['egress', 'names', 'proxy', 'subscriptions', 'events', 'waiting', 'json', 'memory'],
    has: ['undici', 'nodemailer'],
  },
  'callbacks/connections': {
    may: ['egress', 'names', 'proxy', 'waiting', 'memory', 'subscriptions/options'],
    own: ['result.ts'],
    has: ['undici'],
  },
  'callbacks/messages': { may: ['events', 'json/cut-text.ts'], own: [], pure: true },
  delivery: { may: delivery },
  'delivery/schedule': {
    may: ['callbacks', 'events', 'memory', 'subscriptions', 'waiting', 'redis/clock.ts'],
    own: [],
    pure: true,
  },
  'delivery/store': { may: delivery, own: ['schedule'] },
  'delivery/replay': { may: delivery, own: ['schedule', 'store'] },
  'delivery/sources': {
    may: [...delivery, 'filings/present-filings.ts'],
    own: ['schedule', 'store', 'replay'],
  },
  'delivery/attempts': { may: delivery, own: ['schedule', 'store', 'replay'] },
  tracing: {
    may: ['polling', 'filings', 'delivery', 'subscriptions/subscription.ts'],
    has: ['@opentelemetry/*'],
  },
  monitoring: { may: [...polling, ...delivery, 'polling', 'delivery', 'tracing/tracing.ts'] },
  api: { may: apiMay, has: [...fastify, 'rate-limiter-flexible'] },
  'api/subscriptions/preview': { may: apiMay, has: fastify },
  // Of the API only the types of its schemas.
  dashboard: { may: ['api', 'http', 'events/event-types.ts', 'partner/filing-statuses.ts'], has: fastify },
  sandbox: { may: ['daemon/stop-on-signals.ts', 'json/validation-problems.ts'], has: fastify },
  // routes → lists → faults → server → filings ← simulation.
  'sandbox/filings': { may: ['words/folded.ts'], own: sandbox },
  'sandbox/simulation': { may: [], own: [...sandbox, 'filings'] },
  'sandbox/server': { may: ['json/validation-problems.ts'], own: [...sandbox, 'filings'], has: fastify },
  'sandbox/faults': { may: [], own: [...sandbox, 'filings', 'server'], has: fastify },
  'sandbox/lists': { may: [], own: [...sandbox, 'filings', 'server', 'faults'] },
  cli: { may: cli },
  'cli/commands': { may: cli },
  standalone: { may: ['config', 'redis/server'] },
  demo: { may: ['config', 'daemon', 'redis', 'sandbox'], has: ['fastify'] },
  daemon: { may: ['**'] },
};

const files: Readonly<Record<string, Folder>> = {
  'delivery/ownership.ts': { may: delivery, has: ['rate-limiter-flexible'] },
};

/** The rule for what lies `levels` folders below `src`; `topmost` is the first of these. */
function imports(topmost: string, levels: number, { may, own, has = [], pure }: Folder) {
  const up = '../'.repeat(levels);
  const rest = levels > 1 ? '../'.repeat(levels - 1) : './';
  const mine = own === undefined && levels > 1 ? [`${up}${topmost}/**`] : (own ?? []).map(within(rest));
  const allowed = [...may.map(within(up)), ...mine].map((pattern) => `!${pattern}`);
  const libraries = [...placed.filter((library) => !has.includes(library)), ...(pure ? io : [])];
  const message =
    `Of src, src/${topmost} may import ${may.join(', ') || 'nothing else'}; see oxlint.config.ts.` +
    (pure ? ' This folder is pure.' : '');
  const refused = [`${up}**`, ...(own === undefined ? [] : [levels > 1 ? `${rest}**` : './*/**'])];
  const group = [...refused, `!../${up}package.json`, ...allowed, ...libraries];
  const rule: OxlintOverride['rules'] = {
    'no-restricted-imports': ['error', { patterns: [{ group, message }] }],
  };
  return rule;
}

function within(folder: string) {
  return (path: string): string => `${folder}${path.endsWith('.ts') ? path : `${path}/**`}`;
}

const places = Object.entries(folders).flatMap(([name, folder]) => {
  const [topmost = '', ...inner] = name.split('/');
  const levels = inner.length + 1;
  return [
    { files: [`src/${name}/*.ts`], rules: imports(topmost, levels, folder) },
    { files: [`src/${name}/*/**/*.ts`], rules: imports(topmost, levels + 1, folder) },
  ];
});
const placesOfFiles = Object.entries(files).map(([name, folder]) => ({
  files: [`src/${name}`],
  rules: imports(name.split('/')[0] ?? '', name.split('/').length - 1, folder),
}));

export default defineConfig({
  // Packages with libraries of their own, checked by their own tests.
  ignorePatterns: ['integrations/**'],
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',

    // Pages, retries and drains go one after the other on purpose.
    'no-await-in-loop': 'off',
    // What this daemon wrote itself is read back with a type; what others wrote is parsed by schema.
    'typescript/no-unsafe-type-assertion': 'off',
    // The factories' methods are closures and do not know `this`.
    'typescript/unbound-method': 'off',
    // The compiler sees that a switch is exhaustive, this rule does not.
    'typescript/consistent-return': 'off',
    // A `then` for its effect has nothing to return.
    'promise/always-return': 'off',
    // vitest takes a message as the second argument.
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    // A test may assert through a function of its file.
    'vitest/expect-expect': ['error', { assertFunctionNames: ['expect*', 'assert*'] }],
    // Helpers stay where they are used.
    'unicorn/consistent-function-scoping': 'off',
    // What the loop awaits for is changed by callbacks, which this rule does not see.
    'no-unmodified-loop-condition': 'off',
  },
  overrides: [
    {
      files: ['*.config.ts', 'test/support/summary-reporter.ts'],
      rules: { 'import/no-default-export': 'off' },
    },
    // An example is as short as it can be.
    { files: ['docs/verification/*'], rules: { 'typescript/no-misused-promises': 'off' } },
    ...places,
    ...placesOfFiles,
  ],
});
