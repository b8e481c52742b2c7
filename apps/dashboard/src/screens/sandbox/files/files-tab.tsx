import type { SandboxTabProps } from '../sandbox-tab.ts'

export function FilesTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
