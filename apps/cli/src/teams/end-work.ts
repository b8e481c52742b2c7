import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { chooseTeam } from '../keys/choose-team.ts'

/** The server answers within 60 s. */
const TIMEOUT_MS = 90_000

/** Kills the running sandboxes of a team through the API. @throws CliFailure `failed` when some still run */
export async function killAll(parts: CliParts, named: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  const { id, slug } = await chooseTeam(parts, (await parts.database()).db, named)
  await confirm(parts, `Kill all running sandboxes of the team ${slug}?`, yes)
  const call = { path: { teamID: id }, timeoutMs: TIMEOUT_MS }
  const counts = await parts.api.call<{ killedCount: number; failedCount: number }>('killTeamSandboxes', call)
  parts.output.result(counts, () => parts.output.line(`${counts.killedCount} sandboxes killed`))
  if (counts.failedCount > 0) throw new CliFailure(EXIT.failed, `${counts.failedCount} sandboxes still run: repeat it.`)
}

/** Cancels the unfinished builds of a team through the API. @throws CliFailure `failed` when some are left */
export async function cancelBuilds(parts: CliParts, named: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  const { id, slug } = await chooseTeam(parts, (await parts.database()).db, named)
  await confirm(parts, `Cancel all unfinished builds of the team ${slug}?`, yes)
  const call = { path: { teamID: id }, timeoutMs: TIMEOUT_MS }
  const counts = await parts.api.call<{ cancelledCount: number; failedCount: number }>('cancelTeamBuilds', call)
  parts.output.result(counts, () => parts.output.line(`${counts.cancelledCount} builds cancelled`))
  if (counts.failedCount > 0) throw new CliFailure(EXIT.failed, `${counts.failedCount} builds were not cancelled: repeat it.`)
}
