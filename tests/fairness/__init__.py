"""The policy engines of queues, replayed against rows that tell what KAI-Scheduler and Kueue do."""
