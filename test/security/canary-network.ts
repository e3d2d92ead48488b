import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import { connect, isIP } from 'node:net';
import { createCallbackClient } from '../../src/callbacks/callback-client.ts';
import { classifyOutcome } from '../../src/callbacks/outcome.ts';
import { createEgressPolicy } from '../../src/egress/address-policy.ts';
import { createHostLookup } from '../../src/names/host-lookup.ts';
import type { HostLookup } from '../../src/names/host-lookup.ts';
import corpus from '../support/ssrf-corpus.json' with { type: 'json' };

/** What came of calling everything that must not be called, in a network where all of it would answer. */
export interface CanaryReport {
  /** Refused addresses that were dialled without any guard, and how many of them answered. */
  readonly dialled: number;
  readonly singing: number;
  readonly permitted: { readonly hits: number; readonly outcomes: readonly string[] };
  readonly corpus: { readonly urls: number; readonly hits: number; readonly outcomes: readonly string[] };
  readonly names: { readonly urls: number; readonly hits: number; readonly outcomes: readonly string[] };
  /** Requests that came to another address than the one which was vetted. */
  readonly rebound: { readonly toOthers: number };
}

// Those that the corpus names and a callback may go to; below 1024 too, as the network is ours.
const ports = [80, 443, 3000, 8080, 8443];
const publicAddress = '93.184.216.34';
// Those left out cannot be dialled at all, or only with the name of an interface.
const undiallable = /^(0|22[4-9]|23\d|24\d|25\d)\.|^127\.255\.255\.255$|^(::|::ffff:.*|fe.*|ff.*)$/;
const literals = corpus
  .flatMap((group) => group.urls)
  .flatMap((url) => URL.parse(url)?.hostname.replaceAll(/[[\]]/g, '') ?? [])
  .filter((host) => isIP(host) !== 0 && !undiallable.test(host));
const refused = [...new Set(literals)];

let hits: string[] = [];
const canaries = await Promise.all(ports.map(openCanary));

async function openCanary(port: number) {
  const server = createServer((request, response) => {
    response.end('sang');
    request.resume();
  });
  server.on('connection', ({ localAddress = '' }) => hits.push(localAddress.replace('::ffff:', '')));
  await new Promise<void>((resolve) => server.listen({ port, host: '::' }, resolve));
  return server;
}

function openClient(lookup: HostLookup) {
  const policy = createEgressPolicy({ allowCidrs: [] });
  return createCallbackClient({ policy, allowHttp: true, lookup, timeoutMs: 5_000, userAgent: 'test' });
}

async function callAll(urls: readonly string[], lookup: HostLookup) {
  const client = openClient(lookup);
  hits = [];
  const outcomes: string[] = [];
  for (const url of urls) {
    const outcome = classifyOutcome(await client.post({ url, headers: {}, body: Buffer.from('{}') }));
    outcomes.push(outcome.kind === 'delivered' ? outcome.kind : outcome.code);
  }
  await client.close();
  return { urls: urls.length, hits: hits.length, outcomes };
}

const toAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });
const always =
  (...addresses: string[]): HostLookup =>
  async () =>
    addresses.map(toAddress);

function answersAt(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 80 }, () => socket.end('GET / HTTP/1.0\r\n\r\n'));
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('data', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
  });
}

async function callNames() {
  const lists = refused.flatMap((address) => [[address], [publicAddress, address], [address, publicAddress]]);
  let next = 0;
  return callAll(
    lists.map((_, i) => `http://host-${i}.example/`),
    async () => (lists[next++] ?? []).map(toAddress),
  );
}

/**
 * Two callbacks to one name, on a connection that may be used again; between them the name moves to a refused
 * address.
 */
async function callRebound() {
  hits = [];
  let address = publicAddress;
  const client = openClient(async () => [toAddress(address)]);
  for (const next of ['10.0.0.1', '169.254.169.254']) {
    await client.post({ url: 'http://moving.example/', headers: {}, body: Buffer.from('{}') });
    address = next;
  }
  await client.close();
  return { toOthers: hits.filter((hit) => hit !== publicAddress).length };
}

const singing = (await Promise.all(refused.map(answersAt))).filter(Boolean).length;
const permitted = [`http://${publicAddress}/`, 'http://[2606:4700::1111]/', 'http://hooks.example/'];
const { hits: permittedHits, outcomes } = await callAll(permitted, always(publicAddress));
const all = await callAll(
  corpus.flatMap((group) => group.urls),
  createHostLookup(),
);
const names = await callNames();
const report: CanaryReport = {
  dialled: refused.length,
  singing,
  permitted: { hits: permittedHits, outcomes },
  corpus: { ...all, outcomes: [...new Set(all.outcomes)] },
  names: { ...names, outcomes: [...new Set(names.outcomes)] },
  rebound: await callRebound(),
};
process.stdout.write(JSON.stringify(report));
for (const canary of canaries) {
  canary.closeAllConnections();
  canary.close();
}
