import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { EndpointFields, ProgressFields } from '../store/settlement-text.ts';

/** The fields of a subscription as they were last written, so that each is written only when it changes. */
export type WrittenFields = ReturnType<typeof createWrittenFields>;

/** Starts from the delivery state as it is stored. Pure but for what it remembers. */
export function createWrittenFields(stored: DeliveryState) {
  let progress: ProgressFields = stored;
  // Null if it is not known what is written.
  let endpoint: EndpointFields | null = stored;
  return {
    /** Returns the fields that are not as they were last written, and counts them as written. */
    removeChanges(newProgress: ProgressFields, newEndpoint: EndpointFields) {
      const changed = {
        progress: changedFields(newProgress, progress),
        endpoint: endpoint === null ? newEndpoint : changedFields(newEndpoint, endpoint),
      };
      [progress, endpoint] = [newProgress, newEndpoint];
      return changed;
    },
    /** All fields of the endpoint count as changed: they may not have been written. */
    forgetEndpoint: () => void (endpoint = null),
    /** This delivery state with the fields that were last written. */
    over(state: DeliveryState): DeliveryState {
      const { snapshots, undecided, ...others } = progress;
      return { ...state, ...others, ...endpoint, snapshots: snapshots ?? 0, undecided: undecided ?? '' };
    },
  };
}

// Lists count by their items.
function changedFields<T extends object>(fields: T, former: T): Partial<T> {
  const changed: Partial<T> = {};
  for (const name in fields) if (!isSame(fields[name], former[name])) changed[name] = fields[name];
  return changed;
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => item === b[i]);
}
