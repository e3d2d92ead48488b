import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Bundle, ZObject } from 'zapier-platform-core';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import { outputFieldsOf, type FilingEvent } from '../src/catalogue.ts';
import type { Subscribed } from '../src/hook/subscription.ts';
import app from '../src/index.ts';
import { runMethod, startHooks, type HandedOn, type Hooks } from './zapier.ts';

interface Listed {
  items: {
    id: string;
    url: string;
    state: string;
    disabledReason: string | null;
    description: string;
    [field: string]: unknown;
  }[];
}
type Method = (z: ZObject, bundle: Bundle) => Promise<unknown>;
interface HookMethods {
  performSubscribe: Method;
  performUnsubscribe: Method;
  perform: Method;
  performList: Method;
}

let stage: Stage;
let hooks: Hooks;
let authData: Record<string, string>;

before(async () => {
  stage = await startStage();
  hooks = await startHooks();
  authData = { baseUrl: `${stage.url}/`, token: await makeToken(), account: stage.account };
});
after(async () => {
  await hooks?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

/** A token of the account; as the README says, one for its own subscriptions unless asked otherwise. */
async function makeToken(settings: object = { subscriptions: 'own' }): Promise<string> {
  const body = { name: 'zapier', ...settings };
  return (await stage.api.ok<{ token: string }>('POST', `/v1/accounts/${stage.account}/tokens`, body)).token;
}

/** A Zap as Zapier keeps it: its trigger, its address, what the user entered and what the subscription returned. */
function zapOf(
  key: keyof typeof app.triggers,
  inputData: Record<string, unknown> = {},
  connection: Record<string, string> = authData,
) {
  const methods = app.triggers[key].operation as unknown as HookMethods;
  const bundle: Record<string, unknown> & { targetUrl: string } = {
    authData: connection,
    inputData,
    targetUrl: hooks.newTarget(),
  };
  const run = (method: Method, more: object = {}) => runMethod(method, { ...bundle, ...more });
  return {
    target: bundle.targetUrl,
    async turnOn() {
      const subscribed = (await run(methods.performSubscribe)) as Subscribed;
      bundle['subscribeData'] = subscribed;
      return subscribed;
    },
    turnOff: () => run(methods.performUnsubscribe),
    take: (rawRequest: Partial<HandedOn>) =>
      run(methods.perform, { rawRequest, cleanedRequest: {} }) as Promise<FilingEvent[]>,
    samples: () => run(methods.performList) as Promise<FilingEvent[]>,
    arrived: (count = 1) =>
      until(`${count} callbacks`, () => {
        const all = hooks.at(bundle.targetUrl);
        return all.length >= count && all;
      }),
  };
}

const listed = async () =>
  (await stage.api.ok<Listed>('GET', `/v1/accounts/${stage.account}/subscriptions`)).items;
const subscriptionAt = async (target: string) => (await listed()).filter(({ url }) => url === target);

let filings = 0;
/** A filing that the partner service rejects now. */
async function reject(fields: Record<string, unknown> = {}): Promise<string> {
  const id = `f_zap_${(filings += 1)}`;
  await stage.sandbox.set(id, { status: 'PENDING', ...fields });
  await until(`${id} is known`, async () => (await filingAt(id)).status === 200);
  await stage.sandbox.set(id, { status: 'REJECTED', rejectionReason: 'Affidavit is not signed' });
  return id;
}
const filingAt = (id: string) => stage.api.call('GET', `/v1/accounts/${stage.account}/filings/${id}`);

/** The name and text of what a method threw, in the form in which Zapier's runtime passes it on. */
async function errorOf(
  promise: Promise<unknown>,
): Promise<{ name: string; message: string; delay?: number }> {
  try {
    await promise;
  } catch (error) {
    const { name, message } = error as Error;
    try {
      return { name, ...(JSON.parse(message) as { message: string }) };
    } catch {
      return { name, message };
    }
  }
  throw new Error('nothing was thrown');
}

describe('a Zap with Filing Rejected', () => {
  it('registers a subscription to rejections, and removes it; twice is no error', async () => {
    const zap = zapOf('filing_rejected', {
      states: ['TX', 'CA'],
      filter: 'filing.premium > 10',
      payload: 'thin',
    });
    const { id, secret } = await zap.turnOn();
    assert.match(secret, /^whsec_/);
    const [subscription, ...others] = await subscriptionAt(zap.target);
    assert.equal(others.length, 0);
    assert.ok(subscription);
    const { eventTypes, statuses, states, filter, payload, rate, description } = subscription;
    assert.deepEqual(
      { id: subscription.id, eventTypes, statuses, states, filter, payload, rate, description },
      {
        id,
        eventTypes: ['filing.rejected', 'filing.created', 'filing.restored'],
        statuses: ['REJECTED'],
        states: ['TX', 'CA'],
        filter: 'filing.premium > 10',
        payload: 'thin',
        rate: 20,
        description: 'Zapier: Filing Rejected',
      },
    );
    await zap.turnOff();
    assert.deepEqual(await subscriptionAt(zap.target), []);
    await zap.turnOff();
  });

  it('is started once by a rejection, with an item that has the id of the event', async () => {
    const zap = zapOf('filing_rejected');
    await zap.turnOn();
    const filingId = await reject({ insuredsName: 'Bäckerei "Öl" & Söhne 🥨' });
    const [callback] = await zap.arrived();
    assert.ok(callback);
    const items = await zap.take(callback);
    assert.equal(items.length, 1);
    const [item] = items;
    assert.equal(item?.type, 'filing.rejected');
    assert.equal(item?.data['filingId'], filingId);
    assert.equal(item?.data['rejectionReason'], 'Affidavit is not signed');
    const logged = await stage.api.ok(`GET`, `/v1/accounts/${stage.account}/events/${item?.id}`);
    assert.deepEqual(item, logged);
    await zap.turnOff();
  });

  it('refuses a forged callback, one that was changed on its way, and one without a signature', async () => {
    const zap = zapOf('filing_rejected');
    await zap.turnOn();
    await reject();
    const [callback] = await zap.arrived();
    assert.ok(callback);
    const changed = { ...callback, content: callback.content.replace('REJECTED', 'COMPLETED') };
    const [foreign] = [zapOf('filing_rejected')];
    await foreign.turnOn();
    for (const [what, take] of [
      ['does not fit', () => zap.take(changed)],
      ['does not fit', () => foreign.take(callback)],
      ['no signature', () => zap.take({ ...callback, headers: {} })],
    ] as const) {
      const error = await errorOf(take());
      assert.equal(error.name, 'AppError');
      assert.match(error.message, new RegExp(what));
      assert.match(error.message, /turn the Zap off and on/);
    }
    assert.equal((await zap.take(callback)).length, 1);
    await zap.turnOff();
    await foreign.turnOff();
  });

  it('is started once when the same event comes again, in the same attempt or in a replay', async () => {
    const zap = zapOf('filing_rejected');
    const { id } = await zap.turnOn();
    const filingId = await reject();
    const [callback] = await zap.arrived();
    assert.ok(callback);
    assert.equal((await zap.take(callback)).length, 1);
    assert.deepEqual(await zap.take(callback), []);
    await runMethod(app.creates.replay_events.operation.perform as Method, {
      authData,
      inputData: { subscription: id, filingId },
    });
    const again = (await zap.arrived(2))[1];
    assert.ok(again);
    assert.equal(again.headers['Http-Webhook-Id'], callback.headers['Http-Webhook-Id']);
    assert.deepEqual(await zap.take(again), []);
    await zap.turnOff();
  });

  it('is not started by a test call of the subscription', async () => {
    const zap = zapOf('filing_rejected');
    const { id } = await zap.turnOn();
    await stage.api.ok('POST', `/v1/accounts/${stage.account}/subscriptions/${id}/test`);
    const [ping] = await zap.arrived();
    assert.ok(ping);
    assert.deepEqual(await zap.take(ping), []);
    await zap.turnOff();
  });

  it('keeps one subscription when Zapier registers it again after a lost answer', async () => {
    const zap = zapOf('filing_rejected');
    const first = await zap.turnOn();
    const second = await zap.turnOn();
    assert.notEqual(first.id, second.id);
    assert.deepEqual(
      (await subscriptionAt(zap.target)).map(({ id }) => id),
      [second.id],
    );
    await zap.turnOff();
  });

  it('has its subscription disabled when Zapier answers 410', async () => {
    const zap = zapOf('filing_rejected');
    await zap.turnOn();
    hooks.answer(zap.target, 410);
    await reject();
    await until('the subscription is disabled', async () => {
      const [subscription] = await subscriptionAt(zap.target);
      return subscription?.state === 'disabled';
    });
    await zap.turnOff();
  });
});

describe('samples in the editor', () => {
  it('are the latest events, in the shape of what starts the Zap', async () => {
    const zap = zapOf('filing_rejected');
    await zap.turnOn();
    const filingId = await reject();
    const [callback] = await zap.arrived();
    assert.ok(callback);
    const [item] = await zap.take(callback);
    const [sample] = await zap.samples();
    assert.deepEqual(sample, item);
    assert.equal(sample?.data['filingId'], filingId);
    await zap.turnOff();
  });

  it('are those that the settings select', async () => {
    const wanted = await reject({ policyNumber: 'ZP-FILTER' });
    await until('the rejection is logged', async () => {
      const { body } = await stage.api.call<{ items: unknown[] }>(
        'GET',
        `/v1/accounts/${stage.account}/events?filingId=${wanted}&types=filing.rejected`,
      );
      return body.items.length === 1;
    });
    const samples = await zapOf('filing_changed', {
      statuses: ['REJECTED'],
      filter: 'filing.policyNumber == "ZP-FILTER"',
    }).samples();
    assert.deepEqual(
      samples.map(({ data }) => data['filingId']),
      [wanted],
    );
    await Promise.all([reject(), reject(), reject()]);
    const latest = await zapOf('filing_changed', { eventTypes: ['filing.created'] }).samples();
    const { items } = await stage.api.ok<{ items: FilingEvent[] }>(
      'GET',
      `/v1/accounts/${stage.account}/events?types=filing.created&limit=100`,
    );
    assert.ok(items.length > 3);
    assert.deepEqual(latest, items.toReversed().slice(0, 3));
  });

  it('are examples of the daemon while there is no event, with the fields that are offered', async () => {
    for (const [zap, types] of [
      [zapOf('filing_changed', { eventTypes: ['filing.stalled'] }), ['filing.stalled']],
      [zapOf('account_needs_attention', { eventTypes: ['account.stale'] }), ['account.stale']],
    ] as const) {
      const samples = await zap.samples();
      assert.deepEqual(
        samples.map(({ type }) => type),
        types,
      );
      const offered = new Set(outputFieldsOf(types).map(({ key }) => key));
      for (const sample of samples)
        for (const key of flatten(sample)) assert.ok(offered.has(key), `${key} is offered`);
    }
  });
});

/** The names under which Zapier flattens an item. */
function flatten(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? flatten(part as object, `${prefix}${name}__`)
      : [`${prefix}${name}`],
  );
}

describe('a Zap with Filing Changed or Account Needs Attention', () => {
  it('selects what the user chose', async () => {
    const changed = zapOf('filing_changed', {
      eventTypes: ['filing.completed'],
      statuses: ['COMPLETED'],
      states: ['TX'],
    });
    const all = zapOf('filing_changed');
    const account = zapOf('account_needs_attention', { eventTypes: ['account.stale'] });
    await Promise.all([changed.turnOn(), all.turnOn(), account.turnOn()]);
    const [first] = await subscriptionAt(changed.target);
    assert.deepEqual(
      [first?.['eventTypes'], first?.['statuses'], first?.['states']],
      [['filing.completed'], ['COMPLETED'], ['TX']],
    );
    assert.deepEqual((await subscriptionAt(all.target))[0]?.['eventTypes'], ['filing.*']);
    assert.deepEqual((await subscriptionAt(account.target))[0]?.['eventTypes'], ['account.stale']);
    await Promise.all([changed.turnOff(), all.turnOff(), account.turnOff()]);
  });

  it('shows what is wrong with a filter', async () => {
    const error = await errorOf(zapOf('filing_changed', { filter: 'filing.premium >' }).turnOn());
    assert.equal(error.name, 'AppError');
    assert.match(error.message, /filter/);
  });

  it('is started by a notice of the account; of endpoints with a token for all subscriptions', async () => {
    const polling = zapOf('account_needs_attention');
    await polling.turnOn();
    const [subscription] = await subscriptionAt(polling.target);
    assert.deepEqual(subscription?.['eventTypes'], [
      'account.auth_failed',
      'account.digest',
      'account.doubtful',
      'account.recovered',
      'account.stale',
    ]);
    const endpoints = { eventTypes: ['subscription.disabled'] };
    const refused = await errorOf(zapOf('account_needs_attention', endpoints).turnOn());
    assert.match(refused.message, /without "subscriptions": "own"/);

    const zap = zapOf('account_needs_attention', endpoints, { ...authData, token: await makeToken({}) });
    await zap.turnOn();
    const off = zapOf('filing_changed');
    await off.turnOn();
    hooks.answer(off.target, 410);
    await reject();
    const [callback] = await zap.arrived();
    assert.ok(callback);
    const [item] = await zap.take(callback);
    assert.equal(item?.type, 'subscription.disabled');
    await Promise.all([zap, off, polling].map((one) => one.turnOff()));
  });
});

describe('searches and actions', () => {
  const run = (method: unknown, inputData: Record<string, unknown>, token = authData['token'] ?? '') =>
    runMethod(method as Method, { authData: { ...authData, token }, inputData });

  it('find a filing by its policy number', async () => {
    const id = await reject({ policyNumber: 'ZP-2026-1' });
    await reject({ policyNumber: 'ZP-2026-11' });
    const find = app.searches.find_filing.operation.perform;
    const found = await until('both are found', async () => {
      const items = (await run(find, { q: 'ZP-2026-1', status: ['REJECTED'] })) as { id: string }[];
      return items.length === 2 && items;
    });
    assert.equal(found[0]?.id, id);
    assert.deepEqual(await run(find, { q: 'no such policy' }), []);
  });

  it('list the rejections, mark one as seen, and halt where there is none', async () => {
    const list = app.searches.list_rejections.operation.perform;
    const id = await reject();
    const ids = async (seen: string) => {
      const [board] = (await run(list, { seen })) as { rejections: { filingId: string }[]; total: number }[];
      return board?.rejections.map(({ filingId }) => filingId) ?? [];
    };
    await until('it is on the board', async () => (await ids('false')).includes(id));
    const mark = app.creates.mark_rejection_seen.operation.perform;
    const by = { filingId: id, by: 'Front desk', note: 'Copy requested' };
    const refused = await errorOf(run(mark, by));
    assert.equal(refused.name, 'AppError');
    assert.match(refused.message, /own/);
    const token = await makeToken({});
    const marked = (await run(mark, by, token)) as { id: string; seen: { by: string } };
    assert.equal(marked.id, id);
    assert.equal(marked.seen.by, 'Front desk');
    await until('it is seen', async () => !(await ids('false')).includes(id));
    assert.ok((await ids('true')).includes(id));

    await stage.sandbox.set(id, { status: 'PENDING' });
    await until('it is pending', async () => (await filingAt(id)).body['status'] === 'PENDING');
    const error = await errorOf(run(mark, by, token));
    assert.equal(error.name, 'HaltedError');
    assert.match(error.message, /REJECTED now/);
  });

  it('replay to a subscription that the choice offers', async () => {
    const path = `/v1/accounts/${stage.account}/subscriptions`;
    const other = await stage.api.ok<{ id: string }>('POST', path, { url: hooks.newTarget() });
    const zap = zapOf('filing_changed');
    const { id } = await zap.turnOn();
    const { perform } = app.triggers.subscriptions.operation as { perform: unknown };
    const choice = (await run(perform, {})) as {
      id: string;
      name: string;
    }[];
    // Those of other programs are not offered: the token sees only what was registered with it.
    assert.deepEqual(choice, [{ id, name: 'Zapier: Filing Changed (active)' }]);
    const replay = app.creates.replay_events.operation.perform;
    const { matched } = (await run(replay, {
      subscription: id,
      after: '2000-01-01T00:00:00+01:00',
      eventTypes: ['filing.rejected'],
    })) as { matched: number };
    assert.ok(matched > 0);
    await zap.arrived(matched);
    const refused = await errorOf(run(replay, { subscription: other.id }));
    assert.match(refused.message, /subscription/);
    await stage.api.call('DELETE', `${path}/${other.id}`);
    await zap.turnOff();
  });
});

describe('the connection', () => {
  const test = (changed: Record<string, string>) =>
    runMethod(app.authentication?.test as Method, { authData: { ...authData, ...changed } });

  it('is named after the account and the host', async () => {
    assert.deepEqual(await test({}), { account: stage.account, host: new URL(stage.url).host });
  });

  it('asks for a new token when this one is unknown or revoked', async () => {
    const created = await stage.api.ok<{ id: string; token: string }>(
      'POST',
      `/v1/accounts/${stage.account}/tokens`,
      { name: 'short-lived' },
    );
    assert.ok(await test({ token: created.token }));
    await stage.api.call('DELETE', `/v1/accounts/${stage.account}/tokens/${created.id}`);
    for (const token of [created.token, 'unknown']) {
      const error = await errorOf(test({ token }));
      assert.equal(error.name, 'ExpiredAuthError');
      assert.match(error.message, /reconnect filing-webhooks/);
    }
  });

  it('says that the account does not exist, or not for this token', async () => {
    const error = await errorOf(test({ account: 'other' }));
    assert.equal(error.name, 'AppError');
    assert.match(error.message, /no account "other"/);
  });

  it('says that a token may only read', async () => {
    const token = await makeToken({ readOnly: true });
    const subscribe = app.triggers.filing_rejected.operation as unknown as HookMethods;
    const error = await errorOf(
      runMethod(subscribe.performSubscribe, {
        authData: { ...authData, token },
        inputData: {},
        targetUrl: hooks.newTarget(),
      }),
    );
    assert.equal(error.name, 'AppError');
    assert.match(error.message, /only read/);
  });

  it('says what is wrong with an address', async () => {
    const strangers = await startStrangers();
    try {
      for (const [baseUrl, message] of [
        ['filings.example.com', /is not an address/],
        ['http://filings.example.com', /not encrypted/],
        ['https://me:secret@filings.example.com', /user name or password/],
        ['http://127.0.0.1:1', /No daemon answers at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)/],
        [`${strangers.url}/page`, /Something else than filing-webhooks answers/],
        [`${strangers.url}/missing`, /Something else than filing-webhooks answers/],
        [`${strangers.url}/moved`, /sends on to https:\/\/elsewhere\.example\.com/],
      ] as const) {
        const error = await errorOf(test({ baseUrl }));
        assert.equal(error.name, 'AppError', baseUrl);
        assert.match(error.message, message);
      }
      const throttled = await errorOf(test({ baseUrl: `${strangers.url}/slow-down` }));
      assert.deepEqual(
        [throttled.name, throttled.message, throttled.delay],
        ['ThrottledError', 'Too many.', 7],
      );
      const down = await errorOf(test({ baseUrl: `${strangers.url}/down` }));
      assert.equal(down.name, 'ThrottledError');
    } finally {
      await strangers[Symbol.asyncDispose]();
    }
  });

  it('may be the address of the dashboard or of the API', async () => {
    for (const path of ['', '/', '/v1', '/v1/', '/docs'])
      assert.ok(await test({ baseUrl: ` ${stage.url}${path} ` }), path);
  });
});

/** Other servers that a wrong address may lead to. */
async function startStrangers(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(({ url = '' }, response) => {
    const json = { 'content-type': 'application/problem+json', 'retry-after': '7' };
    if (url.startsWith('/page')) response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>');
    else if (url.startsWith('/moved'))
      response.writeHead(302, { location: 'https://elsewhere.example.com' }).end();
    else if (url.startsWith('/slow-down'))
      response.writeHead(429, json).end('{"code":"too_many_requests","detail":"Too many."}');
    else if (url.startsWith('/down')) response.writeHead(502).end('Bad gateway');
    else response.writeHead(404).end('not here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
