import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import { sandboxTexts as texts } from '../../texts/sandbox-texts.ts'

/** Said where a part needs the sandbox to run. */
export function NotRunning({ sandbox }: { readonly sandbox: SandboxDetail }) {
  return <p class="notice">{texts.notRunning[sandbox.state]}</p>
}
