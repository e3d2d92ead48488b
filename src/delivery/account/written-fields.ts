import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { EndpointFields, ProgressFields, SubscriptionSettlement } from '../store/settlement-text.ts';

/** The fields of a subscription as they were last written, so that each is written only when it changes. */
export interface WrittenFields {
  /** Returns the fields that are not as they were last written, and counts them as written. */
  removeChanges(
    progress: ProgressFields,
    endpoint: EndpointFields,
  ): Pick<SubscriptionSettlement, 'progress' | 'endpoint'>;
  /** All fields of the endpoint count as changed: they may not have been written. */
  forgetEndpoint(): void;
  /** This delivery state with the fields that were last written. */
  over(state: DeliveryState): DeliveryState;
}

/** Starts from the delivery state as it is stored. Pure but for what it remembers. */
export function createWrittenFields(stored: DeliveryState): WrittenFields {
  let progress: ProgressFields = stored;
  // Null if it is not known what is written.
  let endpoint: EndpointFields | null = { obstacle: '', ...stored };
  return {
    removeChanges(newProgress, newEndpoint) {
      const changed = {
        progress: changedFields(newProgress, progress),
        endpoint: endpoint === null ? newEndpoint : changedFields(newEndpoint, endpoint),
      };
      [progress, endpoint] = [newProgress, newEndpoint];
      return changed;
    },
    forgetEndpoint: () => void (endpoint = null),
    over(state) {
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
