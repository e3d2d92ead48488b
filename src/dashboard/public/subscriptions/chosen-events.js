import { eventMeanings } from '../catalogue.js';

const types = Object.keys(eventMeanings);

/** Whether a type or a pattern is among the chosen, by its own name or by a wider pattern; pure. */
export const includesEvent = (/** @type {readonly string[]} */ chosen, /** @type {string} */ type) =>
  chosen.some((pattern) => covers(pattern, type));

/** The types of the log by their prefix, in order: `filing.*` → its types. */
export const eventGroups = Map.groupBy(types, (type) => `${type.slice(0, type.indexOf('.'))}.*`);

/**
 * The chosen patterns after a click on one of them; pure. A type that is taken out of a whole group leaves
 * the others of the group; a whole group takes the place of its types.
 * @param {readonly string[]} chosen
 * @param {string} pattern
 * @returns {string[]}
 */
export function toggleEvent(chosen, pattern) {
  if (!includesEvent(chosen, pattern)) {
    return [...chosen.filter((one) => !covers(pattern, one)), pattern];
  }
  if (chosen.includes(pattern)) return chosen.filter((one) => one !== pattern);
  const wider = chosen.filter((one) => covers(one, pattern));
  const split = wider.flatMap((one) => (one === '*' ? [...eventGroups.keys()] : membersOf(one)));
  const kept = chosen.filter((one) => !wider.includes(one));
  return toggleEvent([...new Set([...kept, ...split])], pattern);
}

/** @type {(pattern: string) => string[]} */
const membersOf = (pattern) => types.filter((type) => covers(pattern, type));

/** @type {(pattern: string, other: string) => boolean} */
function covers(pattern, other) {
  if (pattern === '*' || pattern === other) return true;
  return pattern.endsWith('.*') && other.startsWith(pattern.slice(0, -1));
}
