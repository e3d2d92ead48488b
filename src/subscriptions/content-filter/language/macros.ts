import type { ASTNode } from '@marcbachmann/cel-js';
import { spend } from './budget.ts';
import type { Shape } from './event-fields.ts';
import { made, refuse, requireType } from './expression.ts';
import type { Compile, Expression, Scope } from './expression.ts';
import type { Value } from './values.ts';

/** The macros: each looks at the items of a list, one after the other. */
export const macros = ['all', 'exists', 'exists_one', 'filter', 'map'] as const;

type Macro = (typeof macros)[number];

/** Whether a method is a macro. */
export function isMacro(name: string): name is Macro {
  return (macros as readonly string[]).includes(name);
}

/** The value of a macro's expression for an item of its list. */
type Judge = (item: Value) => Value;

const results: Readonly<Record<Macro, (items: readonly Value[], judge: Judge) => Value>> = {
  all: (items, judge) => quantify(items, judge, false),
  exists: (items, judge) => quantify(items, judge, true),
  exists_one(items, judge) {
    const kept = keep(items, judge);
    return kept === undefined ? undefined : kept.length === 1;
  },
  filter: keep,
  map(items, judge) {
    const values: Value[] = [];
    for (const item of items) {
      const value = judge(item);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return values;
  },
};

// An item may decide alone, even if others cannot be decided.
function quantify(items: readonly Value[], judge: Judge, decisive: boolean): boolean | undefined {
  let isDecided = true;
  for (const item of items) {
    const verdict = judge(item);
    if (verdict === decisive) return decisive;
    if (verdict !== !decisive) isDecided = false;
  }
  return isDecided ? !decisive : undefined;
}

function keep(items: readonly Value[], judge: Judge): Value[] | undefined {
  const kept: Value[] = [];
  for (const item of items) {
    const verdict = judge(item);
    if (typeof verdict !== 'boolean') return undefined;
    if (verdict) kept.push(item);
  }
  return kept;
}

/** `list.exists(item, …)` and its like. Each item costs as many steps as the expression has nodes. */
export function compileMacro(
  node: ASTNode,
  name: Macro,
  receiver: ASTNode,
  args: readonly ASTNode[],
  scope: Scope,
  compile: Compile,
): Expression {
  const list = compile(receiver, scope);
  requireType(receiver, list, ['list'], `${name} is for lists`);
  const [variable, body, ...others] = args;
  if (variable?.op !== 'id' || body === undefined || others.length > 0)
    return refuse(node, `${name} takes a name and an expression, as in filing.userFiles.${name}(file, …)`);
  const shape = Array.isArray(list.shape) ? (list.shape as readonly [Shape])[0] : null;
  const slot = 1 + Math.max(-1, ...[...scope.values()].map((bound) => bound.slot));
  const inner = new Map([...scope, [variable.args, { slot, shape }]]);
  const judged = compile(body, inner);
  if (name !== 'map') requireType(body, judged, ['bool'], 'it must be true or false for each item');
  const steps = 1 + judged.nodes;
  const isListOfItems = name === 'filter';
  return made(
    isListOfItems || name === 'map' ? 'list' : 'bool',
    [list, judged],
    (evaluation) => {
      const items = list.run(evaluation);
      if (!Array.isArray(items)) return undefined;
      return results[name](items, (item) => {
        spend(evaluation, steps);
        evaluation.bound[slot] = item;
        return judged.run(evaluation);
      });
    },
    isListOfItems ? list.shape : null,
  );
}
