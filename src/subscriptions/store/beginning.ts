import { firstBlock, type Subscription } from '../subscription.ts';

/** A replay that a subscription begins with. */
export interface FirstReplay {
  readonly id: string;
  /** The same text for all replays that would send the same. */
  readonly request: string;
  /** JSON of the replay and of its state. */
  readonly replay: string;
  readonly state: string;
  /** Number of filings that it sends. */
  readonly filings: number;
}

/** How a subscription begins: enabled and without a replay, unless this says otherwise. */
export interface Beginning {
  readonly enabled?: boolean | undefined;
  readonly snapshot?: FirstReplay | null;
}

/** The first replay as create-subscription.lua takes it. */
export function replayArguments(first: FirstReplay | null): (string | number)[] {
  return first === null
    ? ['', '', '', '', 0]
    : [first.id, first.request, first.replay, first.state, first.filings];
}

/** The block that such settings begin with, as the scripts take it: JSON, empty where there is none. */
export function blockText(subscription: Subscription): string {
  const block = firstBlock(subscription);
  return block === null ? '' : JSON.stringify(block);
}
