import { Cluster } from 'ioredis';

/**
 * A cluster client whose `commandTimeout` counts from the moment a command is given, as it does with a single
 * server. In ioredis it begins when a node gets the command, so a command given while the client looks for
 * the cluster would wait without end. A command that has timed out is not sent any more.
 */
export class TimedCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (stream === undefined && command.isSettled) return command.promise;
    const timeout = this.options.redisOptions?.commandTimeout;
    if (timeout !== undefined) command.setTimeout(timeout);
    return super.sendCommand(command, stream, node);
  }
}
