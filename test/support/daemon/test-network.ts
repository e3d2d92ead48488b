/** A network of its own for the daemons under test, whose only way out is a forward proxy (.ci/behind-a-proxy). */
export interface TestNetwork {
  /** The command, with its first arguments, that runs another one in it. */
  readonly command: readonly string[];
  /** The environment of a daemon in it: its own first, then that of the network. */
  environment(own: Readonly<Record<string, string>>): Record<string, string>;
}

/** The network that the environment of the tests names; null for none. */
export const testNetwork: TestNetwork | null = named(
  process.env['TEST_NETWORK'],
  process.env['TEST_NETWORK_PROXY'],
);

function named(network: string | undefined, proxy: string | undefined): TestNetwork | null {
  const [namespace, here, there] = network?.split(' ') ?? [];
  if (namespace === undefined || here === undefined || there === undefined || proxy === undefined)
    return null;
  return {
    command: ['ip', 'netns', 'exec', namespace],
    environment: (own) => ({
      HOST: there,
      EGRESS_PROXY: proxy,
      PARTNER_PROXY: proxy,
      ...own,
      ...('REDIS_URL' in own ? { REDIS_URL: own['REDIS_URL']?.replace('127.0.0.1', here) ?? '' } : {}),
    }),
  };
}
