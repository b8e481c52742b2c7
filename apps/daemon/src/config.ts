import { type ConfigOf, env, type Environment, parseConfig } from '@sandyard/kit/config/parse-config'

const schema = {
  sandboxId: env.text('SANDYARD_SANDBOX_ID', { default: undefined, doc: 'id of the sandbox, shown to its processes' }),
  templateId: env.text('SANDYARD_TEMPLATE_ID', { default: undefined, doc: 'id of its template, shown to its processes' }),
  buildId: env.text('SANDYARD_BUILD_ID', { default: undefined, doc: 'id of the build that made its image, shown to its processes' }),
  platformHash: env.text('SANDYARD_TOKEN_HASH', {
    default: undefined,
    doc: 'SHA-512 hex of the access token that /init may set; of the empty text where /init may remove it',
  }),
  tunnelHash: env.text('SANDYARD_TUNNEL_HASH', {
    default: undefined,
    doc: 'SHA-512 hex of the secret with which the proxy asks for servers on localhost; without it there are no tunnels to them',
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
  logLevel: env.text('SANDYARD_LOG_LEVEL', { default: 'info', doc: 'least level that is logged' }),
}

export type DaemonConfig = ConfigOf<typeof schema>

/** @throws ConfigError that lists every problem */
export function readConfig(environment: Environment): DaemonConfig {
  return parseConfig(schema, environment)
}
