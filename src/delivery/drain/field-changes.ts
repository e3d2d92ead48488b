/**
 * Picks out of a record the fields that differ from those given the last time, so that only they are written.
 */
export interface FieldChanges<T extends object> {
  since(fields: T): Partial<T>;
  /** What was given so far was not written: everything counts as changed. */
  forget(): void;
}

/** Nothing given yet. Lists are compared as the texts they are written as. */
export function createFieldChanges<T extends object>(): FieldChanges<T> {
  const written = new Map<string, unknown>();
  return {
    since(fields) {
      const changed: Partial<T> = {};
      for (const name in fields) {
        const value = fields[name];
        const comparable = typeof value === 'object' ? JSON.stringify(value) : value;
        if (written.get(name) === comparable) continue;
        written.set(name, comparable);
        changed[name] = value;
      }
      return changed;
    },
    forget: () => written.clear(),
  };
}
