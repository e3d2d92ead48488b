import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Registers metrics of each kind, their names with the prefix of this product. */
export type DefineMetrics = ReturnType<typeof defineMetrics>;

/** Registers with this registry. */
export function defineMetrics(registry: Registry) {
  const common = <L extends string>(name: string, help: string, labelNames: readonly L[]) => ({
    name: `filing_webhooks_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    common,
    gauge: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      new Gauge(common(name, help, labels)),
    counter: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      new Counter(common(name, help, labels)),
    histogram: <L extends string>(name: string, help: string, buckets: number[], labels: readonly L[] = []) =>
      new Histogram({ ...common(name, help, labels), buckets }),
  };
}
