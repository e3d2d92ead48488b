/** Picks out of a record the fields that differ from those given the last time, so that only they are written. */
export interface FieldChanges<T extends object> {
  since(fields: T): Partial<T>;
  /** What was given so far was not written: everything counts as changed. */
  forget(): void;
}

/** Nothing given yet. Values are compared as the texts they are written as. */
export function createFieldChanges<T extends object>(): FieldChanges<T> {
  const written = new Map<string, string>();
  return {
    since(fields) {
      const changed = Object.entries(fields).filter(([name, value]) => {
        const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
        const differs = written.get(name) !== text;
        if (differs) written.set(name, text);
        return differs;
      });
      return Object.fromEntries(changed) as Partial<T>;
    },
    forget: () => written.clear(),
  };
}
