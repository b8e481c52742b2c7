import { type ConfigOf, env, type Environment, parseConfig } from '@sandyard/kit/config/parse-config'

const schema = {
  directory: env.text('DEVCONTAINER_ENGINE_DIRECTORY', {
    default: '/var/lib/devcontainer-engine',
    doc: 'images, containers and volumes',
  }),
  proot: env.text('DEVCONTAINER_ENGINE_PROOT', {
    default: '/opt/devcontainer/proot',
    doc: 'the program that shows a process another root',
  }),
  foreground: env.text('DEVCONTAINER_ENGINE_FOREGROUND', {
    default: '/opt/devcontainer/foreground',
    doc: 'the program that stands for the first process of a command',
  }),
}

export type EngineConfig = ConfigOf<typeof schema>

/** @throws ConfigError that lists every problem */
export function readConfig(environment: Environment): EngineConfig {
  return parseConfig(schema, environment)
}
