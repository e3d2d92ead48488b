import type { NewEvent } from '../../events/event.ts';
import type { Settlement } from './delivery-store.ts';

/**
 * A settlement as settle.lua takes it, from the length of the progress on; null is nothing to write. Pure.
 */
export function settleArguments(settlement: Settlement | null): (string | number)[] {
  if (settlement === null) return [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const { progress, endpoint, lanes, attempts, deadLetters, recovered, replay, announced, disabling } =
    settlement;
  const [progressFields, endpointFields] = [fields(progress), fields(endpoint)];
  const lists: (string | number)[][] = [
    laneFields(lanes),
    attempts.map((attempt) => JSON.stringify(attempt)),
    deadLetters.map((letter) => JSON.stringify(letter)),
    [...recovered],
    replay === null ? [] : laneFields(replay.lanes),
    replay === null ? [] : [replay.id, replay.state ?? '', replay.finished ? '1' : ''],
    announced === null ? [] : eventFields(announced),
    disabling === null ? [] : [disabling.reason, ...eventFields(disabling)],
  ];
  return [
    progressFields.length,
    endpointFields.length,
    ...progressFields,
    ...endpointFields,
    ...lists.flatMap((values) => [values.length, ...values]),
  ];
}

function laneFields(lanes: Settlement['lanes']): string[] {
  return [...lanes].flatMap(([filing, lane]) => [filing, lane === null ? '' : JSON.stringify(lane)]);
}

function eventFields({ event, at }: { readonly event: NewEvent; readonly at: number }): (string | number)[] {
  return [event.id, event.type, at, event.body];
}

function fields(values: object): (string | number)[] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]) =>
    value === null ? [] : [name, fieldText(value)],
  );
}

function fieldText(value: unknown): string | number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
}
