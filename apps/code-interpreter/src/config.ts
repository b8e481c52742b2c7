import { type ConfigOf, env, type Environment, parseConfig } from '@sandyard/kit/config/parse-config'

const schema = {
  port: env.port('CODE_INTERPRETER_PORT', { default: 49_999, doc: 'port of the server; clients expect 49999' }),
  directory: env.text('CODE_INTERPRETER_CWD', { default: '/home/user', doc: 'working directory of contexts that name none' }),
  jupyterConfig: env.text('CODE_INTERPRETER_JUPYTER_CONFIG', {
    default: '/opt/code-interpreter/jupyter_server_config.py',
    doc: 'the configuration file of the Jupyter server',
  }),
  daemonUrl: env.text('CODE_INTERPRETER_DAEMON_URL', {
    default: 'http://127.0.0.1:49983',
    doc: 'the daemon of the sandbox, which knows the variables of the sandbox',
  }),
  logLevel: env.text('CODE_INTERPRETER_LOG_LEVEL', { default: 'info', doc: 'least level that is logged' }),
}

export type CodeInterpreterConfig = ConfigOf<typeof schema>

/** @throws ConfigError that lists every problem */
export function readConfig(environment: Environment): CodeInterpreterConfig {
  return parseConfig(schema, environment)
}
