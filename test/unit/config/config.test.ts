import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variables } from '../../../src/config/variables.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { parseEnvFile, readEnvironment } from '../../../src/config/environment.ts';
import type { Config } from '../../../src/config/config.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const needed = {
  REDIS_URL: 'redis://127.0.0.1:6379',
  API_TOKEN: 'operator-token-of-the-tests',
  ENCRYPTION_KEY: key(1),
};

function configOf(env: Record<string, string>): Config {
  const result = loadConfig({ ...needed, ...env });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.config;
}

function problemsOf(env: Record<string, string | undefined>): readonly string[] {
  const result = loadConfig(env);
  return result.ok ? [] : result.problems;
}

describe('the defaults', () => {
  test('are those of docs/configuration.md', () => {
    expect(configOf({})).toEqual({
      redis: { url: 'redis://127.0.0.1:6379', prefix: 'fw', unsafe: false, waitReplicas: 0 },
      dataDir: './data',
      http: { host: '127.0.0.1', port: 3000 },
      metricsPort: null,
      metricsPerAccount: 'auto',
      trustedProxies: [],
      publicUrl: null,
      frameAncestors: [],
      apiToken: needed.API_TOKEN,
      encryptionKeys: [{ id: 'default', key: Buffer.alloc(32, 1) }],
      defaultAccount: null,
      polling: {
        pollIntervalMs: 15_000,
        sweepIntervalMs: 900_000,
        lookMs: null,
        maxRps: 10,
        totalRps: null,
        concurrency: 4,
        timeoutMs: 10_000,
      },
      delivery: {
        timeoutMs: 15_000,
        retryMs: [
          5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
        ],
        maxInFlight: 64,
        allowCidrs: [],
        allowHttp: false,
        disableAfterMs: 432_000_000,
        attemptDetails: 'failures',
      },
      proxies: { egress: null, egressResolves: false, partner: null, noProxy: [] },
      mail: null,
      verification: { required: false, exemptHosts: [] },
      filingBytesMax: 262_144,
      eventRetentionMs: 2_592_000_000,
      logBytesMax: 268_435_456,
      attemptsBytesMax: 25_165_824,
      roles: new Set(['api', 'poll', 'deliver']),
      logLevel: 'info',
      tracing: null,
    } satisfies Config);
  });

  test('apply to empty variables too', () => {
    const empty = Object.fromEntries(Object.keys(variables).map((name) => [name, '  ']));
    expect(configOf({ ...empty, ...needed })).toEqual(configOf({}));
  });
});

describe('right values', () => {
  test.each<[Record<string, string>, Partial<Config>]>([
    [{ HOST: '::', PORT: '0' }, { http: { host: '::', port: 0 } }],
    [{ HOST: 'localhost', PORT: '65535' }, { http: { host: 'localhost', port: 65_535 } }],
    [{ METRICS_PORT: '9464' }, { metricsPort: 9_464 }],
    [{ TRUSTED_PROXIES: '10.0.0.0/8, ::1/128' }, { trustedProxies: ['10.0.0.0/8', '::1/128'] }],
    [{ PUBLIC_URL: 'https://Filings.example.com//' }, { publicUrl: 'https://filings.example.com' }],
    [{ PUBLIC_URL: 'http://a.example/hooks/' }, { publicUrl: 'http://a.example/hooks' }],
    [
      { REQUIRE_VERIFICATION: 'true', VERIFICATION_EXEMPT_HOSTS: 'Hooks.slack.com, *.example.com' },
      { verification: { required: true, exemptHosts: ['hooks.slack.com', '*.example.com'] } },
    ],
    [
      {
        SMTP_URL: 'smtps://us%40er:p%3Ass@mail.example',
        SMTP_FROM: 'Filing alerts <alerts@agency.example>',
        SMTP_ALLOW_DOMAINS: 'agency.example, *.Agency.example',
      },
      {
        mail: {
          server: { host: 'mail.example', port: 465, tls: 'always', auth: { user: 'us@er', pass: 'p:ss' } },
          from: { name: 'Filing alerts', address: 'alerts@agency.example', host: 'agency.example' },
          allowDomains: ['agency.example', '*.agency.example'],
        },
      },
    ],
    [
      { SMTP_URL: 'smtp://[::1]/', SMTP_FROM: 'a@b.example' },
      {
        mail: {
          server: { host: '::1', port: 587, tls: 'offered', auth: null },
          from: { name: '', address: 'a@b.example', host: 'b.example' },
          allowDomains: null,
        },
      },
    ],
    [
      { SMTP_URL: 'smtp://localhost.example', SMTP_FROM: 'a@b.example' },
      {
        mail: {
          server: { host: 'localhost.example', port: 587, tls: 'upgraded', auth: null },
          from: { name: '', address: 'a@b.example', host: 'b.example' },
          allowDomains: null,
        },
      },
    ],
    [
      { SMTP_URL: 'smtp://localhost:25?tls=none', SMTP_FROM: 'a@b.example' },
      {
        mail: {
          server: { host: 'localhost', port: 25, tls: 'none', auth: null },
          from: { name: '', address: 'a@b.example', host: 'b.example' },
          allowDomains: null,
        },
      },
    ],
    [
      { FRAME_ANCESTORS: 'https://a.example.com, http://B.example:8080/' },
      { frameAncestors: ['https://a.example.com', 'http://b.example:8080'] },
    ],
    [
      {
        REDIS_URL: 'rediss://u:p@r:1/2',
        REDIS_PREFIX: 'a.b_c-1',
        REDIS_UNSAFE: 'true',
        REDIS_WAIT_REPLICAS: '2',
      },
      { redis: { url: 'rediss://u:p@r:1/2', prefix: 'a.b_c-1', unsafe: true, waitReplicas: 2 } },
    ],
    [{ ROLES: 'deliver, poll,poll' }, { roles: new Set(['deliver', 'poll'] as const) }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ' https://collector.example.com/otlp ', OTEL_BSP_X: ' ' },
      {
        tracing: {
          environment: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example.com/otlp' },
          ratio: 1,
          propagates: true,
        },
      },
    ],
    [
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        OTEL_PROPAGATORS: 'b3, baggage',
      },
      { tracing: { environment: { OTEL_TRACES_SAMPLER_ARG: '0.25' }, ratio: 0.25, propagates: false } },
    ],
    [{ FILING_MAX_BYTES: '1024' }, { filingBytesMax: 1024 }],
    [{ EVENT_RETENTION_MS: '50' }, { eventRetentionMs: 50 }],
    [{ LOG_MAX_BYTES: '1048576' }, { logBytesMax: 1_048_576 }],
    [{ ATTEMPTS_MAX_BYTES: '65536' }, { attemptsBytesMax: 65_536 }],
    [
      { PARTNER_BASE_URL: 'http://127.0.0.1:4010/v1/', PARTNER_KEY: 'sandbox-key' },
      { defaultAccount: { baseUrl: 'http://127.0.0.1:4010/v1', partnerKey: 'sandbox-key' } },
    ],
    [
      { ENCRYPTION_KEY: `2026-06:${key(2)}, ${key(1)}` },
      {
        encryptionKeys: [
          { id: '2026-06', key: Buffer.alloc(32, 2) },
          { id: 'default', key: Buffer.alloc(32, 1) },
        ],
      },
    ],
  ])('%j', (env, expected) => {
    expect(configOf(env)).toMatchObject(expected);
  });

  test.each([
    { OTEL_TRACES_SAMPLER: 'always_off' },
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    { OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_EXPORTER: 'console' },
  ])('%j ends tracing', (env) => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    expect(configOf(endpoint).tracing).not.toBeNull();
    expect(configOf({ ...endpoint, ...env }).tracing).toBeNull();
  });

  test('of the delivery', () => {
    const { delivery } = configOf({
      DELIVERY_RETRY_MS: '50, 100',
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8, ::1/128',
      DELIVERY_ALLOW_HTTP: 'true',
      DELIVERY_TIMEOUT_MS: '50',
      DELIVERY_MAX_IN_FLIGHT: '1',
      DELIVERY_DISABLE_AFTER_MS: '50',
      DELIVERY_ATTEMPT_DETAILS: 'none',
    });
    expect(delivery).toEqual({
      timeoutMs: 50,
      retryMs: [50, 100],
      maxInFlight: 1,
      allowCidrs: ['127.0.0.0/8', '::1/128'],
      allowHttp: true,
      disableAfterMs: 50,
      attemptDetails: 'none',
    });
  });
});

const wrongNumbers = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '0x10',
  'ten',
  '10s',
  '1_000',
  '99999999999999999999',
  'NaN',
  '٣',
];
const wrongBooleans = ['1', 'yes', 'TRUE', 'on'];
const wrongEndpoints = [
  'collector:4318',
  '127.0.0.1:4318',
  'grpc://collector:4317',
  'http://user:a@b',
  'http://b?key=a',
  'http://b#a',
];
const wrongProxies = [
  'proxy:3128',
  'socks5://proxy:1080',
  'http://',
  'http://proxy:0',
  'http://proxy:65536',
  'http://proxy:3128/path',
  'http://proxy:3128?a=b',
  'http://us%er:password@proxy:3128',
  'http://us%3Aer:password@proxy:3128',
];
const wrongValues: Record<keyof typeof variables, readonly string[]> = {
  REDIS_URL: [
    'localhost:6379',
    'http://localhost:6379',
    'redis://',
    'redis://:6379',
    'redis://h:0',
    'redis://h:65536',
    'redis://h:port',
    'redis://h/one',
    'redis://h/0/1',
    'redis://h?db=1',
    'redis://a,b',
    'redis://user@h',
    'redis://user:@h',
    'redis://user:%@h',
    'redis://::1:6379',
    'redis://[1]:6379',
    'redis+cluster://',
    'redis+cluster://a,,b',
    'redis+cluster://a/1',
    'redis+sentinel://a:1,b:2',
    'redis+sentinel://a:1/',
    'redis+other://a',
    'redis://h?cert=/c&key=/k',
    'rediss://h?cert=/c',
    'rediss://h?cert=/c&key=',
    'rediss://h?cacert=/a&cacert=/b',
    'rediss://h?other=/a',
    'redis+sentinel://a/m?sentinel-username=u',
    'redis+sentinel://a/m?sentinel-password=%',
    'redis+cluster://a?sentinel-password=p',
    'redis+unix://',
    'redis+unix://host/path',
    'unix:///path?db=one',
    'unix:///path?cert=/c&key=/k',
    '/var/run/redis.sock',
  ],
  REDIS_PREFIX: ['a:b', '{a}', 'a b', 'ä', 'x'.repeat(65), '*'],
  REDIS_UNSAFE: wrongBooleans,
  REDIS_WAIT_REPLICAS: [...wrongNumbers.filter((value) => value !== '0'), '17'],
  HOST: ['127.0.0.1:3000', '[::1]', 'http://localhost', 'a b', '-a', '*', 'x'.repeat(254)],
  PORT: [...wrongNumbers.filter((value) => value !== '0'), '65536'],
  METRICS_PER_ACCOUNT: ['yes', 'AUTO', '100'],
  TRUSTED_PROXIES: ['10.0.0.1', '10.0.0.0/33', 'loopback', 'true', '1'],
  PUBLIC_URL: [
    'filings.example.com',
    'ftp://filings.example.com',
    'https://a:b@example.com',
    'https://example.com/#/accounts',
  ],
  FRAME_ANCESTORS: [
    'intranet.example.com',
    'https://intranet.example.com/page',
    'https://*.example.com',
    "'self'",
    'https://a.example.com;script-src *',
    'ftp://a.example.com',
  ],
  METRICS_PORT: [...wrongNumbers.filter((value) => value !== '0'), '65536'],
  EGRESS_PROXY: wrongProxies,
  EGRESS_PROXY_RESOLVES: wrongBooleans,
  PARTNER_PROXY: wrongProxies,
  SMTP_URL: [
    'mail.example',
    'https://mail.example',
    'smtp://',
    'smtp://mail.example:0',
    'smtp://mail.example/path',
    'smtp://user@mail.example',
    'smtp://us%er:password@mail.example',
    'smtp://mail.example?tls=off',
    'smtps://mail.example?tls=none',
    'smtp://mail.example?tls.rejectUnauthorized=false',
  ],
  SMTP_FROM: [
    'alerts',
    'alerts@localhost',
    'a@b.example, c@d.example',
    'A <a@b.example> B',
    '<>',
    '"A" <a@b.example>',
  ],
  SMTP_ALLOW_DOMAINS: ['https://agency.example', 'agency.example,', '*', 'a@agency.example'],
  DATA_DIR: ['a\0b', 'a\nb', 'x'.repeat(4_097)],
  // An entry that cannot be read is left out, as other programs do that read this variable.
  NO_PROXY: [],
  API_TOKEN: [
    'short',
    'x'.repeat(23),
    'with a space in the middle of it',
    `${'x'.repeat(30)}ä`,
    'x'.repeat(513),
  ],
  ENCRYPTION_KEY: [
    'secret',
    Buffer.alloc(31, 1).toString('base64'),
    Buffer.alloc(33, 1).toString('base64'),
    Buffer.alloc(32, 1).toString('hex'),
    key(1).slice(0, -1),
    // Not how 32 bytes are written: the last digit has bits to spare.
    `${key(0).slice(0, -2)}B=`,
    `a.b:${key(1)}`,
    `:${key(1)}`,
    `${'x'.repeat(33)}:${key(1)}`,
    `a:${key(1)},a:${key(2)}`,
    `${key(1)},${key(2)}`,
    `${key(1)},`,
    `a:b:${key(1)}`,
  ],
  PARTNER_BASE_URL: [
    'partner.example.com/v1',
    'ftp://partner.example.com',
    'https://',
    'https://user:secret@partner.example.com',
    'https://key@partner.example.com',
    'https://partner.example.com/v1?a=b',
    'https://partner.example.com/v1#a',
    '/v1',
  ],
  PARTNER_KEY: ['a b', 'a\nb', 'schlüssel', 'x'.repeat(1_025)],
  POLL_INTERVAL_MS: [...wrongNumbers, '9', '86400001'],
  SWEEP_INTERVAL_MS: [...wrongNumbers, '9', '2592000001'],
  REJECTION_LOOK_MS: [...wrongNumbers.slice(1), '86400001'],
  PARTNER_MAX_RPS: [...wrongNumbers, '1001'],
  PARTNER_TOTAL_RPS: [...wrongNumbers, '10001'],
  PARTNER_CONCURRENCY: [...wrongNumbers, '65'],
  PARTNER_TIMEOUT_MS: [...wrongNumbers, '9', '600001'],
  DELIVERY_TIMEOUT_MS: [...wrongNumbers, '9', '600001'],
  DELIVERY_RETRY_MS: [
    ...wrongNumbers,
    '5,,6',
    '5,',
    '5;6',
    '5 6',
    '2592000001',
    Array.from({ length: 51 }, () => '1').join(','),
  ],
  DELIVERY_MAX_IN_FLIGHT: [...wrongNumbers, '1001'],
  LOG_MAX_BYTES: [...wrongNumbers, '1048575', '256MiB'],
  ATTEMPTS_MAX_BYTES: [...wrongNumbers, '65535', '24MiB'],
  FILING_MAX_BYTES: [...wrongNumbers, '1023', '2097153', '256KiB'],
  DELIVERY_ALLOW_CIDRS: [
    '127.0.0.1',
    '127.0.0.0/33',
    '10/8',
    '::1/129',
    '10.0.0.0/008',
    '10.0.0.0/33',
    '010.0.0.0/8',
    'fe80::1%eth0/64',
    'localhost',
    '127.0.0.0/8,',
    '0x7f.0.0.0/8',
    '*',
  ],
  DELIVERY_ALLOW_HTTP: wrongBooleans,
  DELIVERY_ATTEMPT_DETAILS: ['some', 'ALL', 'true'],
  DELIVERY_DISABLE_AFTER_MS: [...wrongNumbers, '9'],
  REQUIRE_VERIFICATION: wrongBooleans,
  VERIFICATION_EXEMPT_HOSTS: [
    'https://a.example.com',
    'a.example.com:443',
    '*',
    'a.*.com',
    '.example.com',
    'a,,b',
  ],
  EVENT_RETENTION_MS: [...wrongNumbers, '9'],
  ROLES: ['all', 'api,', 'api;poll', 'API', 'api,worker'],
  LOG_LEVEL: ['verbose', 'INFO', '30'],
  OTEL_EXPORTER_OTLP_ENDPOINT: wrongEndpoints,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: wrongEndpoints,
  OTEL_EXPORTER_OTLP_HEADERS: ['a', '=a', 'a=', 'a=b,', 'a b=c', 'a=b c', 'a=b;c', 'a=%', 'a=%0d%0ab'],
  OTEL_SERVICE_NAME: ['ä', 'x'.repeat(256)],
  OTEL_RESOURCE_ATTRIBUTES: ['staging', '=staging'],
  OTEL_TRACES_SAMPLER: ['xray', 'always', 'ALWAYS_ON'],
  OTEL_TRACES_SAMPLER_ARG: ['-0.1', '1.1', '2', '1e-3', 'half', '.', '10%'],
};

describe('a wrong value', () => {
  const cases = Object.entries(wrongValues).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );

  test.each(cases)('%s=%s is refused by name and with a right example', (name, value) => {
    const neighbour = {
      SMTP_URL: 'smtps://m.example',
      SMTP_FROM: 'a@b.example',
      PARTNER_BASE_URL: 'https://p.example/v1',
      PARTNER_KEY: 'k',
    };
    const problems = problemsOf({ ...needed, ...neighbour, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} .+; for example ${name}=.`));
  });

  test('does not hide another: all are listed at once', () => {
    const names = Object.keys(wrongValues);
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, 'wrong!\n']))).toSorted();
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(
      // Those that may contain an exclamation mark.
      names
        .filter((name) => !['DATA_DIR', 'PARTNER_KEY', 'OTEL_SERVICE_NAME', 'NO_PROXY'].includes(name))
        .toSorted(),
    );
  });

  test.each(Object.entries(variables))('%s: the example is a right value', (_name, { example, parse }) => {
    expect(example.startsWith('$(openssl') || parse(example).ok).toBe(true);
  });
});

test.each<[Record<string, string>, { name: string; heeded: string[] }[]]>([
  [{ OTEL_BSP_SCHEDULE_DELAY: '5000' }, [{ name: 'OTEL_BSP_SCHEDULE_DELAY', heeded: [] }]],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, [{ name: 'OTEL_EXPORTER_OTLP_PROTOCOL', heeded: ['http/json'] }]],
  [{ OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '1' }, [{ name: 'OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', heeded: [] }]],
  [{ OTEL_TRACES_EXPORTER: 'otlp, zipkin' }, [{ name: 'OTEL_TRACES_EXPORTER', heeded: ['otlp', 'none'] }]],
  [
    { OTEL_PROPAGATORS: 'tracecontext,b3' },
    [{ name: 'OTEL_PROPAGATORS', heeded: ['tracecontext', 'baggage', 'none'] }],
  ],
  [{ OTEL_SDK_DISABLED: 'yes' }, [{ name: 'OTEL_SDK_DISABLED', heeded: ['true', 'false'] }]],
  [{ OTEL_METRICS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'HTTP/JSON' }, []],
  [{ OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: '/key.pem', OTEL_EXPORTER_OTLP_TIMEOUT: '500' }, []],
  [{ OTEL_BSP_SCHEDULE_DELAY: '5000', OTEL_SDK_DISABLED: 'true' }, []],
  [{ OTEL_BSP_SCHEDULE_DELAY: ' ', OTHER_BSP_SCHEDULE_DELAY: '1' }, []],
])('%j: variables of OpenTelemetry that change nothing are named', (env, unheeded) => {
  expect(loadConfig({ ...needed, ...env })).toMatchObject({ misspelt: [], unheeded });
});

test('a misspelt variable of OpenTelemetry is named once', () => {
  const [name, meant] = ['OTEL_SERVICE_NAEM', 'OTEL_SERVICE_NAME'];
  expect(loadConfig({ ...needed, [name]: 'x' })).toMatchObject({ misspelt: [{ name, meant }], unheeded: [] });
});

describe('what must be set', () => {
  test('REDIS_URL, API_TOKEN and ENCRYPTION_KEY are asked for together', () => {
    const problems = problemsOf({});
    expect(problems).toEqual([
      'REDIS_URL is required and not set; for example REDIS_URL=redis://127.0.0.1:6379',
      'API_TOKEN is required and not set; for example API_TOKEN=$(openssl rand -hex 24)',
      'ENCRYPTION_KEY is required and not set; for example ENCRYPTION_KEY=$(openssl rand -base64 32)',
    ]);
  });

  test.each([
    ['PARTNER_BASE_URL', 'PARTNER_KEY', 'https://p.example/v1'],
    ['PARTNER_KEY', 'PARTNER_BASE_URL', 'partner-key-text'],
    ['SMTP_URL', 'SMTP_FROM', 'smtps://mail.example'],
    ['SMTP_FROM', 'SMTP_URL', 'alerts@agency.example'],
  ])('%s without %s is refused', (given, missing, value) => {
    const problems = problemsOf({ ...needed, [given]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${missing} is not set although ${given} is`));
  });
});

test('no problem contains any part of a secret, wherever it was put', () => {
  const secret = 'S3cr3tS3cr3t';
  const wrapped = fc.constantFrom(
    secret,
    `${secret}, ${secret}`,
    `redis://user:${secret}@host:1/x`,
    `redis://${secret}@`,
    `https://${secret}@h`,
    `default:${secret}`,
    `api,${secret}`,
    `${secret}=`,
  );
  const environments = fc.record(Object.fromEntries(Object.keys(variables).map((name) => [name, wrapped])));
  fc.assert(
    fc.property(environments, (env) => {
      expect(problemsOf(env).join('\n')).not.toContain(secret.slice(0, 5));
    }),
  );
});

test('a .env file completes the environment and never overrides it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-config-'));
  const file = join(folder, '.env');
  await writeFile(file, 'FW_TEST_ONLY_IN_FILE="from file"\nPATH=from file\n');
  const env = readEnvironment(file);
  const without = readEnvironment(join(folder, 'missing'));
  await rm(folder, { recursive: true });
  expect(env['FW_TEST_ONLY_IN_FILE']).toBe('from file');
  expect(env['PATH']).toBe(process.env['PATH']);
  expect(without['PATH']).toBe(process.env['PATH']);
});

test('a byte order mark in front of a .env file is no part of the first name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-config-'));
  const file = join(folder, '.env');
  await writeFile(file, '\uFEFFFW_TEST_ONLY_IN_FILE=first\n');
  const env = readEnvironment(file);
  await rm(folder, { recursive: true });
  expect(env['FW_TEST_ONLY_IN_FILE']).toBe('first');
});

describe('a line of a .env file', () => {
  test.each([
    ['A=x', 'x'],
    ['A=', ''],
    ['A= \nB=y', ''],
    ['A=x # y', 'x'],
    ["A=x # it's", 'x'],
    ['A= # y', ''],
    ["A='x # y'", 'x # y'],
    ['A="x#y" # z', 'x#y'],
    ["A='x\\n$y'", 'x\\n$y'],
    ['A="it\'s"', "it's"],
    ['  export A=x  ', 'x'],
    ['export\tA=x', 'x'],
    ['A=x\r\nB=y\r\n', 'x'],
    ['A="x"\r\nB=y\r\n', 'x'],
    ['A=1\nA=x', 'x'],
    ['# A=y\nA=x=\nplain', 'x='],
    ['A=127.0.0.0/8, ::1/128', '127.0.0.0/8, ::1/128'],
    ['A="x\ny"', 'x\ny'],
  ])('%j means %j', (text, value) => {
    const { values, problems } = parseEnvFile(text.replaceAll(/\bA=/g, 'API_TOKEN='));
    expect([values['API_TOKEN'], problems]).toEqual([value, []]);
  });

  test.each([
    ['A=x#y', '#'],
    ['A=#y', '#'],
    ['A="x"#y', '#'],
    ['A="x"y', '"'],
    ['A="x" y', '"'],
    ["A='it'\\''s'", '\\'],
    ['A="x', '"'],
    ['A="x\nB="y"', '"'],
    ['A=x"y"', '"'],
    ['A="x\\ny"', '\\'],
    ['A=x\\y', '\\'],
    ['A=$x', '$'],
    ['A="$x"', '$'],
    ['A=`x`', '`'],
    ['A=x;', ';'],
    ['A=x&y', '&'],
    ['A=~/x', '~'],
    ['A=x B=y', '='],
    ['A= B=y', '='],
  ])('%j is refused for its %s', (text, sign) => {
    const named = text.replaceAll(/\bA=/g, 'API_TOKEN=');
    expect(parseEnvFile(`Z=1\n${named}`).problems).toEqual([
      expect.stringContaining(`line 2: API_TOKEN has ${sign} in its value`),
    ]);
  });

  test('is not looked at where it sets a variable of another program, unless its quotes take lines along', () => {
    const foreign = ['DATABASE_URL=postgres://h/db?a=1&b=2', "MOTD=it's", 'PROMPT="$USER"', 'PORT=1'];
    expect(parseEnvFile(foreign.join('\n'))).toMatchObject({ values: { PORT: '1' }, problems: [] });
    expect(parseEnvFile('MOTD="hello\nPORT=1\nHOST="::1"').problems).toEqual([
      expect.stringContaining('line 1: MOTD has " in its value'),
    ]);
  });
});

test.each(Object.entries(variables))(
  '%s is refused in quotes that belong to its value',
  (name, { example }) => {
    for (const quote of ['"', "'", '`'])
      expect(problemsOf({ ...needed, [name]: `${quote}${example}${quote}` })).toContainEqual(
        expect.stringContaining(`${name} has quotes around its value`),
      );
  },
);

describe('the documentation', () => {
  const defaults = Object.fromEntries(
    Object.entries(variables).map(([name, variable]) => [
      name,
      variable.required ? 'none, see below' : (variable.default ?? 'none'),
    ]),
  );

  test('docs/configuration.md lists every variable with its default, and no other', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [list = ''] = page.split('\n## ');
    const items = list.matchAll(/^- `([A-Z_]+)`\s\(([^)]+)\):/gm);
    const documented = Object.fromEntries(
      [...items].map(([, name, text]) => [name, text?.replaceAll('`', '')]),
    );
    expect(documented).toEqual(defaults);
  });

  test('.env.example mentions every variable with its default, and starts the daemon once the keys are put in', () => {
    const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
    const text = read('.env.example');
    const { values: everything } = parseEnvFile(text.replaceAll(/^# ?(?=[A-Z_]+=)/gm, ''));
    const forCompose = [...read('docker-compose.yml').matchAll(/\$\{(\w+)|args: \[(\w+)\]/g)];
    const names = [...Object.keys(variables), ...forCompose.map(([, used, passed]) => used ?? passed ?? '')];
    expect(Object.keys(everything).toSorted()).toEqual([...new Set(names)].toSorted());
    const withDefault = Object.entries(variables).filter(([, variable]) => variable.default !== null);
    expect(everything).toMatchObject(
      Object.fromEntries(withDefault.map(([name, each]) => [name, each.default])),
    );
    expect(loadConfig({ ...parseEnvFile(text).values, ...needed }).ok).toBe(true);
    expect(problemsOf(parseEnvFile(text).values)).toHaveLength(3);
  });
});
