import type { LookupAddress, RecordWithTtl } from 'node:dns';
import type { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The answer of the name servers for a full name: its addresses and for how many milliseconds they hold, that
 * there are none, or nothing that could be relied on. `silent` means that no server answered.
 */
export type NameAnswer =
  | { readonly kind: 'found'; readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly silent: boolean };

// Milliseconds that one family of addresses may take longer than the other: some servers ignore questions for
// IPv6.
const otherFamilyMs = 1_000;

// Maximum number of addresses of a family that are kept: a server may name thousands, and each is vetted.
const addressesMax = 32;

interface OfFamily {
  readonly family: 4 | 6;
  readonly records: readonly RecordWithTtl[];
  readonly code: string;
}

/** Asks for the addresses of both families at once. Never rejects. */
export async function askServers(resolver: Resolver, name: string): Promise<NameAnswer> {
  const asked = [
    settled(4, resolver.resolve4(name, { ttl: true })),
    settled(6, resolver.resolve6(name, { ttl: true })),
  ];
  const first = await Promise.race(asked);
  if (first.records.length === 0) return combine(await Promise.all(asked));
  const waiting = new AbortController();
  const late = delay(otherFamilyMs, [first], { signal: waiting.signal }).catch(() => [first]);
  const answers = await Promise.race([Promise.all(asked), late]);
  waiting.abort();
  return combine(answers);
}

async function settled(family: 4 | 6, asked: Promise<readonly RecordWithTtl[]>): Promise<OfFamily> {
  try {
    return { family, records: (await asked).slice(0, addressesMax), code: '' };
  } catch (error) {
    return { family, records: [], code: String((error as { code?: unknown }).code) };
  }
}

// NXDOMAIN, no address of this family, and what is no name in DNS.
const saysNone = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', '']);

function combine(answers: readonly OfFamily[]): NameAnswer {
  const addresses = answers.flatMap(({ family, records }) =>
    records.map(({ address }) => ({ address, family })),
  );
  if (addresses.length > 0) {
    const ttls = answers.flatMap(({ records }) => records.map(({ ttl }) => ttl));
    return { kind: 'found', addresses, ttlMs: Math.min(...ttls) * 1000 };
  }
  // A name that does not exist has no addresses of the other family either.
  if (answers.some(({ code }) => code === 'ENOTFOUND')) return { kind: 'none' };
  const failed = answers.filter(({ code }) => !saysNone.has(code));
  return failed.length === 0
    ? { kind: 'none' }
    : { kind: 'failed', silent: failed.some(({ code }) => code === 'ETIMEOUT') };
}
