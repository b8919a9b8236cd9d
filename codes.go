package nexus

// The SQLSTATEs of class NX, for comparing with [Error.Code] when the family ([ErrInvalid] and the others) is too coarse.
// The table core.error_codes holds the same list with the meaning of each and the remedy.
const (
	CodeNamespaceName    = "NX001" // not a well-formed namespace name
	CodeEventType        = "NX002" // not a well-formed event type
	CodePayload          = "NX003" // a payload that cannot be kept exactly
	CodeUnknownOption    = "NX004" // an option nobody knows
	CodeOptionValue      = "NX005" // an option with a value it cannot have
	CodeArgumentValue    = "NX006" // an argument with a value it cannot have
	CodeRetryPolicy      = "NX007" // not a valid retry policy
	CodeConsumer         = "NX008" // not a well-formed consumer name or pattern
	CodeDeadLetterFilter = "NX009" // a filter that matches everything or makes no sense
	CodeCron             = "NX011" // not a cron expression or interval that can be kept
	CodeTimezone         = "NX012" // not the name of a time zone
	CodeTaskSetting      = "NX013"
	CodeTrigger          = "NX014" // a trigger that cannot be
	CodeSQLHandler       = "NX015" // a function that cannot handle events
	CodeKey              = "NX016" // not a collection or key of the key-value store
	CodeWatchable        = "NX017" // a table that cannot be watched
	CodeOutbox           = "NX018" // not an outbox queue, lane, or message for one
	CodeWorkflow         = "NX019" // a workflow that cannot be

	CodeNoNamespace      = "NX101"
	CodeNoConsumer       = "NX102"
	CodeNoQueue          = "NX103"
	CodeNoNode           = "NX104"
	CodeNoDeadLetter     = "NX105"
	CodeNoSweep          = "NX106"
	CodeNoRole           = "NX107"
	CodeNoTask           = "NX108"
	CodeNoScheduledEvent = "NX109"
	CodeNoRequest        = "NX113" // its reply was taken, it has expired or was cancelled, or the server crashed
	CodeQueueLost        = "NX110" // the queue is registered, and its tables are missing
	CodeNoHandler        = "NX111" // no handler has that key
	CodeNoTrigger        = "NX114"
	CodeNoWatch          = "NX112"

	CodeNoLane = "NX115" // no such outbox queue or lane

	CodeNoWorkflow = "NX116"
	CodeNoRun      = "NX117" // of a workflow, or no such step in it

	CodeNamespaceDiffers      = "NX201" // the namespace exists with other options
	CodeQueueNameTaken        = "NX202" // the physical queue name belongs to another namespace
	CodeNamespaceNotEmpty     = "NX203" // it still holds undelivered events
	CodeNodeAlive             = "NX204" // a live node has this id
	CodeDeadLetterResolved    = "NX205"
	CodeNotConfirmed          = "NX206" // the confirmation does not match
	CodeNotReplayable         = "NX207" // the dead letter's consumer is gone
	CodeTaskConflict          = "NX208" // a recurring task of this name has another owner or other settings
	CodeScheduledEventDiffers = "NX209" // one with this id exists with other content
	CodeScheduledEventDone    = "NX210" // it was appended, cancelled or has failed
	CodeNotYoursToCommit      = "NX211" // the transaction is the node's
	CodeConsumerDiffers       = "NX212" // the consumer, webhook, handler or trigger exists with other settings
	CodeConsumerNotEmpty      = "NX213" // it still holds undelivered events
	CodeSQLHandlerDiffers     = "NX214" // the consumer has another SQL handler
	CodeSQLHandlerAltered     = "NX215" // while it ran
	CodeReplyBeforeCommit     = "NX219" // awaited in the transaction of the request
	CodeReplayDiffers         = "NX216" // the replay exists with another consumer, filter or limit
	CodeDeadLetterClaimed     = "NX217" // somebody else holds a claim on it
	CodeHandlerInUse          = "NX223" // triggers name the handler, or deliver to the consumer

	CodeOutboxDiffers = "NX221" // the outbox queue exists with other settings
	CodeNotFirst      = "NX224" // something was written before in the transaction
	CodeLaneHeld      = "NX222" // a processor holds the lane
	CodeOrdered       = "NX225" // an ordered consumer has no such thing
	CodeRunExists     = "NX226" // of this idempotency key, with another input
	CodeCompensated   = "NX227" // the run was undone, so that it cannot go on

	CodeLeaseLost      = "NX301"
	CodeNodeSuperseded = "NX302" // a newer incarnation of the node took over
	CodeClaimLost      = "NX303" // of a dead letter: its time is over, or another has it

	CodeDutyMissing         = "NX401" // the caller's role lacks the duty
	CodeNamespaceRestricted = "NX402" // the namespace is not granted to the caller
	CodeAuditLogKept        = "NX403" // the audit log takes no change

	CodeSchemaNewer     = "NX501" // than this binary
	CodeSchemaOlder     = "NX502" // than this binary, or missing
	CodeExtension       = "NX503" // an extension is missing or too old
	CodeInstallerRights = "NX504"
	CodeMigrationEdited = "NX505" // an applied migration's file was changed
	CodeStillUsed       = "NX506" // something was built on what the new version drops
	CodeNotTrusted      = "NX507" // who owns, or may do, what the installer would run

	CodeSchemaUnreleased = "NX508" // of before version 0.1.0

	CodeLanesForeign = "NX509" // the lanes are of another server

	CodePayloadTooLarge  = "NX601"
	CodeTooManyEvents    = "NX602" // in one batch
	CodeBatchTooLarge    = "NX603" // in bytes
	CodeMetadataTooLarge = "NX604" // headers, key or tags
	CodeTooManyTriggers  = "NX605" // in a namespace

	CodeHandlerRetries  = "NX701" // what an SQL handler says by raising it; likewise the next two
	CodeHandlerRejects  = "NX702"
	CodeHandlerReleases = "NX703"
)
