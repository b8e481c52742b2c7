import type { SandboxTabProps } from '../sandbox-tab.ts'

export function TimelineTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
