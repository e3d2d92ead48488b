import { SealError } from '../../../secrets/seal.ts';
import type { Sealer } from '../../../secrets/seal.ts';
import type { SealPlace } from '../../../secrets/seal-place.ts';

/**
 * A sealed text for another place; as it is where the place is the same. A text that does not open stays as
 * it is: it opens again in its own place only.
 */
export function moveSeal(sealer: Sealer, sealed: string, from: SealPlace, to: SealPlace): string {
  if (from.peer === to.peer) return sealed;
  try {
    return sealer.seal(sealer.open(sealed, from), to);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return sealed;
  }
}
