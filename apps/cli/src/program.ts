import { Command } from 'commander'
import type { CliParts } from './cli-parts.ts'
import { registerBackup } from './commands/backup.ts'
import { registerCompletion } from './commands/completion.ts'
import { registerConnect } from './commands/connect.ts'
import { registerCp } from './commands/cp.ts'
import { registerDashboard } from './commands/dashboard.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerDown } from './commands/down.ts'
import { registerEnv } from './commands/env.ts'
import { registerExec } from './commands/exec.ts'
import { registerGc } from './commands/gc.ts'
import { registerInfo } from './commands/info.ts'
import { registerKill } from './commands/kill.ts'
import { registerKeys } from './commands/keys.ts'
import { registerLimits } from './commands/limits.ts'
import { registerLogs } from './commands/logs.ts'
import { registerLs } from './commands/ls.ts'
import { registerNodes } from './commands/nodes.ts'
import { registerPause } from './commands/pause.ts'
import { registerRestore } from './commands/restore.ts'
import { registerResume } from './commands/resume.ts'
import { registerSecrets } from './commands/secrets.ts'
import { registerStatus } from './commands/status.ts'
import { registerTeams } from './commands/teams.ts'
import { registerTemplates } from './commands/templates.ts'
import { registerUpgrade } from './commands/upgrade.ts'
import { registerVerify } from './commands/verify.ts'
import { registerUp } from './commands/up.ts'
import { registerUsers } from './commands/users.ts'
import { registerVersion } from './commands/version.ts'
import { registerWebhooks } from './commands/webhooks.ts'
import { readRelease } from './release.ts'

/** The command tree. Each command is one file; help lists them in this order. */
const COMMANDS: readonly ((program: Command, parts: CliParts) => void)[] = [
  registerUp,
  registerDown,
  registerEnv,
  registerDashboard,
  registerStatus,
  registerDoctor,
  registerKeys,
  registerLimits,
  registerTeams,
  registerUsers,
  registerNodes,
  registerSecrets,
  registerTemplates,
  registerLogs,
  registerLs,
  registerInfo,
  registerKill,
  registerPause,
  registerResume,
  registerConnect,
  registerExec,
  registerCp,
  registerWebhooks,
  registerBackup,
  registerVerify,
  registerRestore,
  registerUpgrade,
  registerGc,
  registerCompletion,
  registerVersion,
]

export function createProgram(parts: CliParts): Command {
  const { output } = parts
  const program = new Command('sandyard')
    .description('Runs and looks after a Sandyard server and its sandboxes.')
    .version(readRelease(), '-V, --version', 'print the version of this program')
    .option('--json', 'print data as JSON: one document, or one for each line of a stream')
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .configureOutput({
      writeOut: (text) => void output.stdout.write(text),
      writeErr: (text) => void output.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'sandyard: ')),
    })
    .showHelpAfterError('(run it with --help for its options)')
    .hook('preAction', (self) => output.useJson(self.opts<{ json?: boolean }>().json === true))
    .exitOverride()
  for (const register of COMMANDS) register(program, parts)
  return program
}
