import type { Subscription } from '../subscription.ts';
import { certificateKinds, endingsOf, type Tls } from '../settings/tls.ts';

// Milliseconds before the end of a certificate at which the account is warned.
const warnedBeforeMs = 30 * 86_400_000;

/**
 * The arguments of `note_ends` for a change from `former` to `next`; pure. A certificate that stays is left
 * out, so that no warning is repeated. `former` is undefined where it is not known.
 */
export function changedEnds(
  former: Pick<Tls, 'shown'> | null | undefined,
  next: Pick<Tls, 'shown'> | null,
): (string | number)[] {
  const endings = new Map(endingsOf(next).map(({ kind, notAfter }) => [kind, notAfter]));
  return certificateKinds.flatMap((kind): (string | number)[] => {
    const before = former === undefined ? undefined : (former?.shown[kind]?.fingerprint ?? null);
    if (before === (next?.shown[kind]?.fingerprint ?? null)) return [];
    const notAfter = endings.get(kind);
    return notAfter === undefined ? [kind, '', ''] : [kind, notAfter, notAfter - warnedBeforeMs];
  });
}

/**
 * The arguments for a change of stored settings. Unreadable ones (`hasUnreadableSettings`) stay as they are
 * noted, unless others take their place.
 */
export function endsChangedBy(
  before: { readonly subscription: Settings; readonly hasUnreadableSettings?: boolean },
  { tls: next }: Settings,
): (string | number)[] {
  const { tls: former } = before.subscription;
  if (before.hasUnreadableSettings !== true) return changedEnds(former ?? null, next ?? null);
  return next === former ? [] : changedEnds(undefined, next ?? null);
}

type Settings = Pick<Subscription, 'tls'>;
