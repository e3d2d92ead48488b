import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Subscription } from '../../src/subscriptions/subscription.ts';
import { startBareProcess, type BareProcess, type CallsTaken } from './support/bare-process.ts';
import { compareProcesses } from './support/compare-processes.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess, type ReceiverProcess } from './support/receiver-process.ts';
import { startRigProcess, type CallsDelivered, type RigProcess } from './support/rig-process.ts';
import { median, print, printTable } from './support/statistics.ts';

const callsPerRound = Number(process.env['BENCH_CALLS'] ?? 10_000);
// The compiler goes on for some 60 000 callbacks; a daemon runs for months.
const warmCalls = Number(process.env['BENCH_WARM'] ?? 60_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 4);
const subscriptionCounts = (process.env['BENCH_SUBSCRIPTIONS'] ?? '1,5,20,1000').split(',').map(Number);
// Settings of a second set of subscriptions, such as a filter.
const settings = JSON.parse(process.env['BENCH_SETTINGS'] ?? 'null') as Partial<Subscription> | null;
const alsoTls = process.env['BENCH_TLS'] !== 'false';

/**
 * Callbacks per second and processor time of the whole delivery path, beside a bare undici loop that signs
 * and posts the same bodies to the same receiver. Both are warm, and so is the receiver: each has made 60 000
 * calls before the rounds are timed. The daemon's first round after its start is a figure of its own and left
 * out of the others. Then both alternate, and so does which of them begins; medians are printed, of the figures and of
 * the ratios within each pair, and the most that the ratio can be by the processor time of daemon, Redis and
 * receiver: as it is, and if the daemon itself took no more of it than the bare client. Each has a process of its own, and nothing is polled meanwhile. Callbacks over
 * TLS alternate with plain ones in the same processes, those of the bare client too. Then the same with an AOF written at once, and by one
 * process and by two.
 *
 * `BENCH_SUBSCRIPTIONS` (1,5,20,1000) names other numbers of subscriptions and leaves out what follows the
 * table; `BENCH_ROUNDS` (4) is the number of pairs, `BENCH_CALLS` (10000) that of calls in a round,
 * `BENCH_WARM` (60000) that of calls before them, `BENCH_TLS=false` leaves out TLS.
 * `BENCH_SETTINGS` ('{"filter":"filing.premium > 10000","signatures":["v1","v1a"]}') adds subscriptions with these settings, which alternate
 * with plain ones in the same process.
 */
export async function run(): Promise<void> {
  const columns: Figures[] = [];
  for (const subscriptions of subscriptionCounts)
    // One after the other: they would disturb each other.
    columns.push(await compare('everysec', subscriptions, alsoTls));
  printTable('subscriptions', subscriptionCounts.map(String), columns);
  if (process.env['BENCH_SUBSCRIPTIONS'] !== undefined) return;
  print('5 subscriptions, AOF always', await compare('always', 5, false));
  await compareProcesses();
}

type Figures = Readonly<Record<string, number>>;

async function compare(
  appendfsync: 'always' | 'everysec',
  subscriptions: number,
  tls: boolean,
): Promise<Figures> {
  await using redis = await startPrivateRedis(appendfsync);
  await using receiver = await startReceiverProcess();
  await using tlsReceiver = await startReceiverProcess({ tls: true });
  await using rig = await startRigProcess(redis.url);
  await using bareClient = await startBareProcess();
  const product: Delivered[] = [];
  const bare: Posted[] = [];
  const overTls: Delivered[] = [];
  const bareOverTls: Posted[] = [];
  const withSettings: Delivered[] = [];
  const first = await prepareRound(rig, receiver, subscriptions);
  await warmUp(bareClient, receiver, first);
  const started = await deliverPrepared(rig, receiver, first);
  await deliverWarm(rig, receiver, subscriptions);
  const firstTls = tls ? await prepareRound(rig, tlsReceiver, subscriptions) : undefined;
  if (firstTls !== undefined) await warmUp(bareClient, tlsReceiver, firstTls);
  const startedTls = firstTls && (await deliverPrepared(rig, tlsReceiver, firstTls));
  if (tls) await deliverWarm(rig, tlsReceiver, subscriptions);
  if (settings !== null) await deliverRound(rig, receiver, subscriptions, settings);
  for (let i = 0; i < rounds; i += 1) {
    const turns = [
      async () => product.push(await deliverRound(rig, receiver, subscriptions)),
      async () => bare.push(await postRound(bareClient, receiver, first)),
      async () =>
        settings !== null && withSettings.push(await deliverRound(rig, receiver, subscriptions, settings)),
      async () => tls && overTls.push(await deliverRound(rig, tlsReceiver, subscriptions)),
      async () => firstTls && bareOverTls.push(await postRound(bareClient, tlsReceiver, firstTls)),
    ];
    // oxlint-disable no-await-in-loop
    for (const turn of i % 2 === 0 ? turns : turns.toReversed()) await turn();
    await receiver.arrivals();
    // oxlint-enable no-await-in-loop
  }
  return {
    'delivery/s': median(product.map(rateOf)),
    'bare/s': median(bare.map(rateOf)),
    'ratio within pairs': median(product.map((one, i) => one.perSecond / rateOf(bare[i]))),
    'ratio, processors permit': median(product.map((one, i) => boundOf(one, bare[i]))),
    '  if the daemon cost as bare': median(product.map((one, i) => idealOf(one, bare[i]))),
    'CPU µs a call': median(product.map(({ cpuMicros }) => cpuMicros)),
    '  main thread': median(product.map(({ mainMicros }) => mainMicros)),
    '  Redis': median(product.map(({ redisMicros }) => redisMicros)),
    'receiver, CPU µs a call': median(product.map(({ receiverMicros }) => receiverMicros)),
    'CPU µs a call, bare': median(bare.map(({ cpuMicros }) => cpuMicros)),
    '  main thread, bare': median(bare.map(({ mainMicros }) => mainMicros)),
    '  receiver, bare': median(bare.map(({ receiverMicros }) => receiverMicros)),
    'commands of Redis a call': median(product.map(({ commands }) => commands)),
    'first round/s': started.perSecond,
    'first / warm': started.perSecond / median(product.map(rateOf)),
    ...(settings !== null && {
      'with settings/s': median(withSettings.map(rateOf)),
      'settings / plain within pairs': median(
        withSettings.map((one, i) => one.perSecond / rateOf(product[i])),
      ),
      'CPU µs a call, settings': median(withSettings.map(({ cpuMicros }) => cpuMicros)),
    }),
    ...(tls && {
      'first round over TLS/s': rateOf(startedTls),
      'over TLS/s': median(overTls.map(rateOf)),
      'CPU µs a call, TLS': median(overTls.map(({ cpuMicros }) => cpuMicros)),
      'receiver, TLS': median(overTls.map(({ receiverMicros }) => receiverMicros)),
      'TLS / plain within pairs': median(overTls.map((one, i) => one.perSecond / rateOf(product[i]))),
      '  the same, bare': median(bareOverTls.map((one, i) => one.perSecond / rateOf(bare[i]))),
    }),
  };
}

function rateOf(taken: CallsTaken | undefined): number {
  return taken?.perSecond ?? Number.NaN;
}

/**
 * The ratio that this machine's processors permit at most, by the processor time of both and of the receiver: no
 * thread runs on two of them at once, and all share them. Other programs beside it do not change it.
 */
function boundOf(product: Delivered, bare: Posted | undefined): number {
  return bare === undefined ? Number.NaN : leastMicros(bare, 0) / leastMicros(product, product.redisMicros);
}

/**
 * The same for a daemon that does its work for the processor time of the bare client, beside the same Redis and the same
 * receiver.
 */
function idealOf({ redisMicros, receiverMicros }: Delivered, bare: Posted | undefined): number {
  if (bare === undefined) return Number.NaN;
  const { mainMicros, cpuMicros } = bare;
  const ideal = { perSecond: Number.NaN, mainMicros, cpuMicros: cpuMicros + redisMicros, receiverMicros };
  return leastMicros(bare, 0) / leastMicros(ideal, redisMicros);
}

function leastMicros({ mainMicros, cpuMicros, receiverMicros }: Posted, redisMicros: number): number {
  const shared = (cpuMicros + receiverMicros) / availableParallelism();
  return Math.max(mainMicros, redisMicros, receiverMicros, shared);
}

type Posted = CallsTaken & WithReceiver;
type Delivered = CallsDelivered & WithReceiver;

interface WithReceiver {
  /** Microseconds of processor time of the receiver a call. */
  readonly receiverMicros: number;
}

interface Round {
  readonly account: string;
  readonly urls: readonly string[];
  readonly bodies: readonly Buffer[];
  readonly calls: number;
}

/** A backlog of a new account, the same number of events for each of its subscriptions. */
async function prepareRound(
  rig: RigProcess,
  receiver: ReceiverProcess,
  subscriptions: number,
  asked: Partial<Subscription> = {},
): Promise<Round> {
  const account = `a${randomBytes(4).toString('hex')}`;
  const urls = Array.from({ length: subscriptions }, (_, n) => `${receiver.url}/${account}/${n}`);
  const events = Math.ceil(callsPerRound / subscriptions);
  const bodies = await rig.prepare(account, urls, events, asked);
  return { account, urls, bodies, calls: events * subscriptions };
}

function deliverPrepared(
  rig: RigProcess,
  receiver: ReceiverProcess,
  { account, calls }: Round,
): Promise<Delivered> {
  return withReceiver(receiver, calls, () => rig.deliver(account, calls));
}

async function deliverRound(...asked: Parameters<typeof prepareRound>): Promise<Delivered> {
  const [rig, receiver] = asked;
  return deliverPrepared(rig, receiver, await prepareRound(...asked));
}

/** Goes on after the first round, in rounds like those that are timed. */
async function deliverWarm(rig: RigProcess, receiver: ReceiverProcess, subscriptions: number): Promise<void> {
  for (let calls = callsPerRound; calls < warmCalls; calls += callsPerRound)
    // oxlint-disable-next-line no-await-in-loop
    await deliverRound(rig, receiver, subscriptions);
}

function postRound(client: BareProcess, receiver: ReceiverProcess, { urls, bodies }: Round): Promise<Posted> {
  return withReceiver(receiver, callsPerRound, () => client.post(urls, bodies, callsPerRound));
}

async function withReceiver<T>(
  receiver: ReceiverProcess,
  calls: number,
  make: () => Promise<T>,
): Promise<T & WithReceiver> {
  await receiver.arrivals();
  const usedBefore = await receiver.cpuMicros();
  const taken = await make();
  return { ...taken, receiverMicros: ((await receiver.cpuMicros()) - usedBefore) / calls };
}

async function warmUp(
  client: BareProcess,
  receiver: ReceiverProcess,
  { urls, bodies }: Round,
): Promise<void> {
  await client.post(urls, bodies, warmCalls);
  await receiver.arrivals();
}
