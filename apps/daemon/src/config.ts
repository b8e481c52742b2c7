import { type ConfigOf, env, type Environment, parseConfig } from '@sandyard/kit/config/parse-config'

const schema = {
  instanceFile: env.text('SANDYARD_INSTANCE_FILE', {
    default: undefined,
    doc: 'file with the SHA-512 hex of the key that /init needs; without this setting the first caller of /init sets the access token',
  }),
  requireConnectProtocolHeader: env.boolean('SANDYARD_REQUIRE_CONNECT_PROTOCOL_HEADER', {
    default: true,
    doc: 'refuse calls without Connect-Protocol-Version',
  }),
  path: env.text('PATH', {
    default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    doc: 'where commands of the sandbox are looked up',
  }),
  runDirectory: env.text('SANDYARD_RUN_DIRECTORY', { default: '/run/e2b', doc: 'where programs of the sandbox read what it is' }),
  controlGroups: env.text('SANDYARD_CONTROL_GROUPS', { default: '/sys/fs/cgroup', doc: 'where the kernel tells what the container uses' }),
  systemRoot: env.text('SANDYARD_SYSTEM_ROOT', { default: '/', doc: 'where the files of the system are that /init changes' }),
  resolvers: env.list('SANDYARD_RESOLVERS', {
    default: [],
    doc: 'DNS resolvers that the daemon writes into /etc/resolv.conf, for runtimes that cannot reach the resolver of the engine',
  }),
  logLevel: env.text('SANDYARD_LOG_LEVEL', { default: 'info', doc: 'least level that is logged' }),
}

export type DaemonConfig = ConfigOf<typeof schema>

/** @throws ConfigError that lists every problem */
export function readConfig(environment: Environment): DaemonConfig {
  return parseConfig(schema, environment)
}
