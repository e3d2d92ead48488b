import { nearName } from '../words/near-name.ts';
import { textOf, type Environment } from './environment.ts';
import { variables } from './variables.ts';

/**
 * A variable that the daemon does not read, and the one that is probably meant: a misspelt one, or the proxy
 * of other programs where the daemon has none.
 */
export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

// A process has tens of variables; one with thousands is not looked through.
const lookedThroughMax = 1_000;
// Maximum characters in which a misspelt variable differs.
const differingMax = 2;
// Minimum characters of a variable that others may be taken for: HOST and PORT are near too many words.
const shortestCompared = 5;

/**
 * The variables that differ from a known one by a few characters, and the proxy of other programs where this
 * one has none; pure.
 */
export function findMisspelt(env: Environment): MisspeltVariable[] {
  return [...findNear(env), ...findOtherProxy(env)];
}

function findNear(env: Environment): MisspeltVariable[] {
  const known = Object.keys(variables);
  return Object.keys(env)
    .slice(0, lookedThroughMax)
    .filter((name) => !Object.hasOwn(variables, name) && textOf(env, name) !== null)
    .flatMap((name) => {
      const meant = nearName(name, known, differingMax);
      return meant === null || meant.length < shortestCompared ? [] : [{ name, meant }];
    });
}

// Variables from which other programs read their proxy.
const otherProxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

function findOtherProxy(env: Environment): MisspeltVariable[] {
  const name = otherProxies.find((each) => textOf(env, each) !== null);
  const isMeant = name !== undefined && textOf(env, 'EGRESS_PROXY') === null;
  return isMeant ? [{ name, meant: 'EGRESS_PROXY' }] : [];
}
