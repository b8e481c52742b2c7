import type { Command } from 'commander'
import type { ReadyMadeTemplate } from '@sandyard/api-contract/templates/ready-made'
import type { CliParts } from '../cli-parts.ts'

/** The templates that come with the server (docs/templates.md). */
export function registerTemplates(program: Command, parts: CliParts): void {
  const templates = program
    .command('templates')
    .description('list the templates that come with the server, and build them before they are needed')
  templates
    .command('list')
    .alias('ls')
    .description('list what is ready-made, what is installed and what is outdated')
    .action(() => list(parts))
  templates
    .command('install')
    .argument('<name>', 'name of a ready-made template')
    .option('--no-wait', 'return when the build is queued')
    .description('build a ready-made template, or build it again if the server has a newer version; shows the progress')
    .action(async (name: string, options: { wait: boolean }) => {
      const { installTemplate } = await import('../templates/install-template.ts')
      await installTemplate(parts, name, options)
    })
}

async function list({ api, output }: CliParts): Promise<void> {
  const found = await api.call<ReadyMadeTemplate[]>('listReadyMadeTemplates')
  output.result(found, () => {
    const rows = found.map((template) => [
      template.name,
      stateText(template),
      template.version,
      template.installedVersion ?? undefined,
      template.description,
    ])
    output.table(['NAME', 'STATE', 'VERSION', 'INSTALLED', 'DESCRIPTION'], rows)
    for (const { name, failure } of found) if (failure !== null) output.say(`${name}: the last build failed: ${failure.message}`)
  })
}

function stateText({ state, isOutdated, build }: ReadyMadeTemplate): string {
  if (state !== 'installed') return state
  if (build !== null) return 'installed, is built again'
  return isOutdated ? 'outdated' : state
}
