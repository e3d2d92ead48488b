import { Cluster } from 'ioredis';

/**
 * A cluster client whose `commandTimeout` counts from the moment a command is given, as that of a single
 * server does. Otherwise it begins when a node takes the command, and what is given while the cluster is
 * looked for waits without end. What has timed out is not sent any more.
 */
export class TimedCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (stream === undefined && command.isSettled) return command.promise;
    const timeout = this.options.redisOptions?.commandTimeout;
    if (timeout !== undefined) command.setTimeout(timeout);
    return super.sendCommand(command, stream, node);
  }
}
