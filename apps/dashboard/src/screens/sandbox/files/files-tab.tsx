import type { FileEntry } from '@sandyard/dashboard-contract/files'
import { useLocation } from 'preact-iso/router'
import { useMemo, useRef, useState } from 'preact/hooks'
import { lazyScreen } from '../../../frame/lazy-screen.ts'
import { paths } from '../../../frame/paths.ts'
import { ErrorBoundary } from '../../../parts/error-boundary.tsx'
import { ask } from '../../../parts/ask.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import '../../../styles/sandbox-files.css'
import { NotRunning } from '../not-running.tsx'
import { mayChange, type SandboxTabProps } from '../sandbox-tab.ts'
import { uploadFiles } from './file-actions.ts'
import { FilePane } from './file-pane.tsx'
import { cleanPath, foldersTo, parentOf } from './file-paths.ts'
import { FileToolbar } from './file-toolbar.tsx'
import { treeRows } from './file-tree.ts'
import { FileTreeView } from './file-tree-view.tsx'
import type { PathQuestion } from './path-dialog.tsx'
import { useFolders } from './use-folders.ts'

const ChangesList = lazyScreen(() => import('./changes-list.tsx').then(({ ChangesList }) => ChangesList))
const DeletedFile = lazyScreen(() => import('./deleted-file.tsx').then(({ DeletedFile }) => DeletedFile))
const PathDialog = lazyScreen(() => import('./path-dialog.tsx').then(({ PathDialog }) => PathDialog))

const HOME = '/home/user'

export function FilesTab({ sandbox }: SandboxTabProps) {
  if (sandbox.state === 'running' && sandbox.isReachable) return <Files key={sandbox.sandboxId} sandboxId={sandbox.sandboxId} />
  return (
    <div class="stack">
      <NotRunning sandbox={sandbox} />
      {sandbox.state === 'paused' && (
        <ErrorBoundary name={texts.changed}>
          <ChangesList sandboxId={sandbox.sandboxId} selected={undefined} onSelect={undefined} />
        </ErrorBoundary>
      )}
    </div>
  )
}

function Files({ sandboxId }: { readonly sandboxId: string }) {
  const { query, route } = useLocation()
  const path = cleanPath(query['path'] ?? '')
  const isChanges = query['view'] === 'changes'
  const folders = useFolders(sandboxId, foldersTo(path === undefined ? HOME : parentOf(path)))
  const [question, setQuestion] = useState<PathQuestion | undefined>(undefined)
  const [isDeleted, setDeleted] = useState(false)
  const isDirtyRef = useRef(false)
  const rows = useMemo(() => treeRows(folders.listings, folders.open, '/'), [folders.listings, folders.open])

  const listing = path === undefined ? undefined : folders.listings.get(parentOf(path))
  const found = listing?.entries.find((entry) => entry.path === path)
  const listed: FileEntry | null | undefined = listing === undefined || listing.isCut ? (found ?? null) : found
  const isFolder = path === '/' || found?.kind === 'directory'
  const folder = path === undefined ? HOME : isFolder ? path : parentOf(path)

  const go = async (next: string | undefined, view: 'all' | 'changes' = isChanges ? 'changes' : 'all'): Promise<void> => {
    if (isDirtyRef.current && next !== path && !(await ask({ title: texts.leaveTitle, text: texts.leaveText, button: texts.leave }))) return
    if (next !== path) isDirtyRef.current = false
    const search = new URLSearchParams({ ...(next !== undefined && { path: next }), ...(view === 'changes' && { view }) }).toString()
    route(`${paths.sandbox(sandboxId, 'files')}${search === '' ? '' : `?${search}`}`, true)
  }
  const open = (next: string): void => {
    setDeleted(false)
    for (const above of foldersTo(parentOf(next))) folders.toggle(above, true)
    void go(next)
  }
  const upload = async (to: string, files: readonly File[]): Promise<void> => {
    if (!mayChange()) return
    await uploadFiles(sandboxId, to, files)
    folders.refresh(to)
  }

  return (
    <div class="files">
      <FileToolbar
        sandboxId={sandboxId}
        folder={folder}
        path={path}
        entry={found}
        isChanges={isChanges}
        onView={(view) => void go(path, view)}
        onOpen={open}
        onGone={(gone) => {
          isDirtyRef.current = false
          folders.refresh(parentOf(gone))
          void go(undefined)
        }}
        onMade={(made) => {
          folders.refresh(parentOf(made))
          open(made)
        }}
        onUpload={(files) => void upload(folder, files)}
        onAsk={setQuestion}
      />
      {folders.failure !== undefined && <p class="notice notice-failed">{folders.failure}</p>}
      <div class="files-body">
        {isChanges ? (
          <ErrorBoundary name={texts.changed}>
            <ChangesList
              sandboxId={sandboxId}
              selected={path}
              onSelect={(change) => {
                setDeleted(change.kind === 'deleted')
                void go(change.path)
              }}
            />
          </ErrorBoundary>
        ) : (
          <FileTreeView
            rows={rows}
            selected={path}
            onSelect={(row) => {
              setDeleted(false)
              void go(row.path)
            }}
            onToggle={folders.toggle}
            onDrop={(to, files) => void upload(to, files)}
          />
        )}
        {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the toolbar has a button that does the same */}
        <div
          class="file-pane"
          onDragOver={(event) => {
            if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault()
          }}
          onDrop={(event) => {
            const files = [...(event.dataTransfer?.files ?? [])]
            if (files.length === 0) return
            event.preventDefault()
            void upload(folder, files)
          }}
        >
          {path === undefined || (isFolder && !isChanges) ? (
            <p class="empty">{texts.nothing}</p>
          ) : isDeleted ? (
            <ErrorBoundary name={path}>
              <DeletedFile sandboxId={sandboxId} path={path} />
            </ErrorBoundary>
          ) : (
            <FilePane
              key={`${path} ${isChanges}`}
              sandboxId={sandboxId}
              path={path}
              listed={listed}
              startsWithDiff={isChanges}
              onDirty={(isDirty) => {
                isDirtyRef.current = isDirty
              }}
            />
          )}
        </div>
      </div>
      {question !== undefined && (
        <ErrorBoundary name={question.title}>
          <PathDialog key={question.title} {...question} onClose={() => setQuestion(undefined)} />
        </ErrorBoundary>
      )}
    </div>
  )
}
