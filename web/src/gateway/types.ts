// Written by types.mjs from the gateway's OpenAPI document.
export interface paths {
    "/api/v1/submissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Submissions */
        get: operations["list_submissions_api_v1_submissions_get"];
        put?: never;
        /** Submit */
        post: operations["submit_api_v1_submissions_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/quote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Quote */
        post: operations["quote_api_v1_submissions_quote_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Submission */
        get: operations["get_submission_api_v1_submissions__submission_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow Submission */
        get: operations["follow_submission_api_v1_submissions__submission_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/isa": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Isa */
        get: operations["get_isa_api_v1_submissions__submission_id__isa_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Report */
        get: operations["get_report_api_v1_submissions__submission_id__report_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel Submission */
        post: operations["cancel_submission_api_v1_submissions__submission_id__cancel_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/problems": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Problems */
        get: operations["list_problems_api_v1_problems_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/problems/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Problem */
        get: operations["get_problem_api_v1_problems__slug__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/gpu-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Gpu Types */
        get: operations["list_gpu_types_api_v1_gpu_types_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Machines */
        get: operations["list_machines_api_v1_machines_get"];
        put?: never;
        /** Request Machine */
        post: operations["request_machine_api_v1_machines_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/machines/{machine_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Machine */
        get: operations["get_machine_api_v1_machines__machine_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/machines/{machine_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow Machine */
        get: operations["follow_machine_api_v1_machines__machine_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/machines/{machine_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drain Machine */
        post: operations["drain_machine_api_v1_machines__machine_id__drain_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/machines/{machine_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop Machine */
        post: operations["stop_machine_api_v1_machines__machine_id__stop_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/machines/{machine_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Machine Logs */
        get: operations["get_machine_logs_api_v1_machines__machine_id__logs_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Offers */
        get: operations["list_offers_api_v1_offers_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers/diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Diagnose Providers */
        get: operations["diagnose_providers_api_v1_providers_diagnosis_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume Renting */
        post: operations["resume_renting_api_v1_providers_resume_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Me */
        get: operations["get_me_api_v1_me_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Notices */
        get: operations["get_notices_api_v1_me_notices_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Set Notices */
        patch: operations["set_notices_api_v1_me_notices_patch"];
        trace?: never;
    };
    "/api/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Limits */
        get: operations["get_limits_api_v1_limits_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Costs */
        get: operations["get_costs_api_v1_costs_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Report */
        get: operations["get_report_api_v1_billing_report_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Verify Ledger */
        get: operations["verify_ledger_api_v1_billing_verify_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/statement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Statement */
        get: operations["get_statement_api_v1_billing_statement_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Grants */
        get: operations["list_grants_api_v1_billing_grants_get"];
        put?: never;
        /** Grant Credit */
        post: operations["grant_credit_api_v1_billing_grants_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/revocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke Credit */
        post: operations["revoke_credit_api_v1_billing_revocations_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Refund Charge */
        post: operations["refund_charge_api_v1_billing_refunds_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Budgets */
        get: operations["list_budgets_api_v1_billing_budgets_get"];
        /** Set Budget */
        put: operations["set_budget_api_v1_billing_budgets_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/budgets/{budget_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove Budget */
        delete: operations["remove_budget_api_v1_billing_budgets__budget_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Prices */
        get: operations["list_prices_api_v1_prices_get"];
        put?: never;
        /** Set Price */
        post: operations["set_price_api_v1_prices_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prices/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Price Periods */
        get: operations["list_price_periods_api_v1_prices_history_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/quote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Quote */
        get: operations["get_quote_api_v1_quote_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/projections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Projections */
        get: operations["get_projections_api_v1_billing_projections_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rankings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Rankings */
        get: operations["list_rankings_api_v1_rankings_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/comparisons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compare */
        get: operations["compare_api_v1_comparisons_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Queues */
        get: operations["list_queues_api_v1_queues_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Apply Queues */
        post: operations["apply_queues_api_v1_queues_apply_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Close Queue */
        post: operations["close_queue_api_v1_queues__name__close_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open Queue */
        post: operations["open_queue_api_v1_queues__name__open_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/gpu-types/{gpu_type}/maintenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Begin Maintenance */
        put: operations["begin_maintenance_api_v1_gpu_types__gpu_type__maintenance_put"];
        post?: never;
        /** End Maintenance */
        delete: operations["end_maintenance_api_v1_gpu_types__gpu_type__maintenance_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove Queue */
        delete: operations["remove_queue_api_v1_queues__name__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Explain */
        get: operations["explain_api_v1_submissions__submission_id__why_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/build-contexts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload Build Context */
        post: operations["upload_build_context_api_v1_build_contexts_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Reservations */
        get: operations["list_reservations_api_v1_reservations_get"];
        put?: never;
        /** Reserve */
        post: operations["reserve_api_v1_reservations_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/quote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Quote */
        post: operations["quote_api_v1_reservations_quote_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Usage */
        get: operations["get_usage_api_v1_reservations_usage_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/calendar": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Calendar */
        get: operations["get_calendar_api_v1_reservations_calendar_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Reservation */
        get: operations["get_reservation_api_v1_reservations__reservation_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Rename */
        patch: operations["rename_api_v1_reservations__reservation_id__patch"];
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow Reservation */
        get: operations["follow_reservation_api_v1_reservations__reservation_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel Reservation */
        post: operations["cancel_reservation_api_v1_reservations__reservation_id__cancel_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Extend */
        post: operations["extend_api_v1_reservations__reservation_id__extend_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change Users */
        post: operations["change_users_api_v1_reservations__reservation_id__users_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/notify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Notify */
        post: operations["notify_api_v1_reservations__reservation_id__notify_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/tunnel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe Tunnel */
        get: operations["describe_tunnel_api_v1_reservations__reservation_id__tunnel_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Availability */
        get: operations["get_availability_api_v1_availability_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/disks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Disks */
        get: operations["list_disks_api_v1_disks_get"];
        put?: never;
        /** Create */
        post: operations["create_api_v1_disks_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/disks/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete */
        delete: operations["delete_api_v1_disks__name__delete"];
        options?: never;
        head?: never;
        /** Rename */
        patch: operations["rename_api_v1_disks__name__patch"];
        trace?: never;
    };
    "/api/v1/disks/{name}/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Clone */
        post: operations["clone_api_v1_disks__name__clone_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/disks/{name}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Content */
        get: operations["get_content_api_v1_disks__name__content_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/disks/{name}/snapshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take Snapshot */
        post: operations["take_snapshot_api_v1_disks__name__snapshot_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Tokens */
        get: operations["list_tokens_api_v1_tokens_get"];
        put?: never;
        /** Create Token */
        post: operations["create_token_api_v1_tokens_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke Token */
        delete: operations["revoke_token_api_v1_tokens__token_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Keys */
        get: operations["list_keys_api_v1_keys_get"];
        put?: never;
        /** Add Key */
        post: operations["add_key_api_v1_keys_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Finish Claim */
        put: operations["finish_claim_api_v1_keys_claims_put"];
        /** Begin Claim */
        post: operations["begin_claim_api_v1_keys_claims_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove Key */
        delete: operations["remove_key_api_v1_keys__key__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Accounts */
        get: operations["list_accounts_api_v1_accounts_get"];
        put?: never;
        /** Create Account */
        post: operations["create_account_api_v1_accounts_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{account}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Account */
        get: operations["get_account_api_v1_accounts__account__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Users */
        get: operations["list_users_api_v1_users_get"];
        put?: never;
        /** Create User */
        post: operations["create_user_api_v1_users_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get User */
        get: operations["get_user_api_v1_users__user__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update User */
        patch: operations["update_user_api_v1_users__user__patch"];
        trace?: never;
    };
    "/api/v1/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Teams */
        get: operations["list_teams_api_v1_teams_get"];
        put?: never;
        /** Create Team */
        post: operations["create_team_api_v1_teams_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/teams/{team}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Team */
        get: operations["get_team_api_v1_teams__team__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/teams/{team}/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Add Member */
        put: operations["add_member_api_v1_teams__team__members__user__put"];
        post?: never;
        /** Remove Member */
        delete: operations["remove_member_api_v1_teams__team__members__user__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Sign In Options */
        get: operations["get_sign_in_options_api_v1_sign_in_get"];
        put?: never;
        /** Sign In */
        post: operations["sign_in_api_v1_sign_in_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Alerts */
        get: operations["list_alerts_api_v1_alerts_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Alert History */
        get: operations["list_alert_history_api_v1_alerts_history_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Alert Rules */
        get: operations["list_alert_rules_api_v1_alerts_rules_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send Test Alert */
        post: operations["send_test_alert_api_v1_alerts_test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Job Metrics */
        get: operations["get_job_metrics_api_v1_metrics_jobs_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Queue Metrics */
        get: operations["get_queue_metrics_api_v1_metrics_queues_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Metrics */
        get: operations["get_metrics_api_v1_metrics_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/amd/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Metrics */
        get: operations["get_metrics_api_amd_metrics_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/amd/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit */
        post: operations["submit_api_amd_submit_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/submissions/direct-submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Direct Submit */
        post: operations["direct_submit_api_submissions_direct_submit_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/submissions/checker": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check */
        post: operations["check_api_submissions_checker_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/submissions/benchmark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Benchmark */
        post: operations["benchmark_api_submissions_benchmark_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/submissions/sample": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run Sample */
        post: operations["run_sample_api_submissions_sample_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/submissions/sandbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run Sandbox */
        post: operations["run_sandbox_api_submissions_sandbox_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/submissions/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel */
        post: operations["cancel_api_submissions_cancel_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Health */
        get: operations["get_health_healthz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Readiness */
        get: operations["get_readiness_readyz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Account */
        Account: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Create Time */
            create_time: string | null;
            /** Owner */
            owner: string | null;
            /** Owner Id */
            owner_id: string;
            /** Owner Name */
            owner_name: string;
            /** Granted Usd */
            granted_usd: number;
            /** Charged Usd */
            charged_usd: number;
            /** Held Usd */
            held_usd: number;
            /** Available Usd */
            available_usd: number;
        };
        /** AccountCosts */
        AccountCosts: {
            /** Account Id */
            account_id: string;
            /** Account Name */
            account_name: string;
            /** Charged Usd */
            charged_usd: number;
            /** Use Usd */
            use_usd: number;
            /** Overhead Usd */
            overhead_usd: number;
        };
        /** AccountList */
        AccountList: {
            /** Accounts */
            accounts: components["schemas"]["AccountSummary"][];
        };
        /**
         * AccountRequest
         * @example {
         *       "grant_usd": 5,
         *       "name": "ada"
         *     }
         */
        AccountRequest: {
            /** Name */
            name: string;
            /**
             * Grant Usd
             * @default 0
             */
            grant_usd?: number;
        };
        /** AccountSummary */
        AccountSummary: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Create Time */
            create_time: string | null;
            /** Owner */
            owner: string | null;
            /** Owner Id */
            owner_id: string;
            /** Owner Name */
            owner_name: string;
        };
        /** Act */
        Act: {
            /** At */
            at: string | null;
            /** By */
            by: string | null;
            /** What */
            what: string;
            /** Hours */
            hours?: number | null;
            /**
             * Added
             * @default []
             */
            added?: string[];
            /**
             * Removed
             * @default []
             */
            removed?: string[];
            /**
             * Editors
             * @default []
             */
            editors?: string[];
            /** Text */
            text?: string | null;
        };
        /** AddedKey */
        AddedKey: {
            /** User */
            user: string;
            /** Type */
            type: string;
            /** Fingerprint */
            fingerprint: string;
            /** Origin */
            origin: string;
        };
        /** AddedUser */
        AddedUser: {
            /**
             * User
             * @default
             */
            user?: string;
            /** Public Key */
            public_key?: string | null;
        };
        /** AdmittedMachineUse */
        AdmittedMachineUse: {
            /** Reuse */
            reuse: string;
            /** Idle Seconds */
            idle_seconds: number | null;
            /** Wait For Operator */
            wait_for_operator: boolean;
        };
        /** AdmittedResources */
        AdmittedResources: {
            /** Gpus */
            gpus: number | null;
            /** Min Gpus */
            min_gpus: number | null;
            /** Fraction */
            fraction: number | null;
            /** Devices */
            devices: number | null;
            /** Isolation */
            isolation: string;
        };
        /** Alert */
        Alert: {
            /** Id */
            id: string;
            /** Rule */
            rule: string;
            /** Severity */
            severity: string;
            /** Phase */
            phase: string;
            /** No Data */
            no_data: boolean;
            /** Source */
            source: string;
            /** Labels */
            labels: {
                [key: string]: string;
            };
            /** Summary */
            summary: string;
            /** Value */
            value: number;
            /** Since */
            since: string | null;
            /** Reading Time */
            reading_time: string | null;
        };
        /** AlertChannel */
        AlertChannel: {
            /** Name */
            name: string;
            /** Kind */
            kind: string;
            /** Least Severity */
            least_severity: string;
        };
        /** AlertDelivery */
        AlertDelivery: {
            /** Channel */
            channel: string;
            /** Outcome */
            outcome: string;
            /** Attempts */
            attempts: number;
            /** Time */
            time: string | null;
            /** Failure */
            failure: string;
        };
        /** AlertHistory */
        AlertHistory: {
            /** Transitions */
            transitions: components["schemas"]["AlertTransition"][];
            /** Next Page Token */
            next_page_token: string;
        };
        /** AlertList */
        AlertList: {
            /** Alerts */
            alerts: components["schemas"]["Alert"][];
        };
        /** AlertRule */
        AlertRule: {
            /** Name */
            name: string;
            /** Severity */
            severity: string;
            /** Reading */
            reading: string;
            /** Comparison */
            comparison: string;
            /** Threshold */
            threshold: number;
            /** Clear Threshold */
            clear_threshold: number;
            /** For Seconds */
            for_seconds: number;
            /** Summary */
            summary: string;
            /** Last Reading Time */
            last_reading_time: string | null;
        };
        /** AlertRules */
        AlertRules: {
            /** Rules */
            rules: components["schemas"]["AlertRule"][];
            /** Channels */
            channels: components["schemas"]["AlertChannel"][];
        };
        /**
         * AlertTest
         * @example {
         *       "channel": "log"
         *     }
         */
        AlertTest: {
            /**
             * Channel
             * @default
             */
            channel?: string;
        };
        /** AlertTestResult */
        AlertTestResult: {
            /** Deliveries */
            deliveries: components["schemas"]["TestDelivery"][];
        };
        /** AlertTransition */
        AlertTransition: {
            /** Id */
            id: string;
            /** Alert Id */
            alert_id: string;
            /** Rule */
            rule: string;
            /** Severity */
            severity: string;
            /** Event */
            event: string;
            /** Labels */
            labels: {
                [key: string]: string;
            };
            /** Summary */
            summary: string;
            /** Value */
            value: number;
            /** Time */
            time: string | null;
            /** Deliveries */
            deliveries: components["schemas"]["AlertDelivery"][];
        };
        /**
         * AmdSubmitRequest
         * @example {
         *       "problem": "vector-addition",
         *       "solution_code": "#include <hip/hip_runtime.h>\n\n__global__ void add(const float* a, const float* b, float* c, size_t n) {\n    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + b[i];\n}\n\nextern \"C\" void solution(const float* a, const float* b, float* c, size_t n) {\n    add<<<(n + 255) / 256, 256>>>(a, b, c, n);\n}\n"
         *     }
         */
        AmdSubmitRequest: {
            /**
             * Gpu Type
             * @default
             */
            gpu_type?: string;
            /**
             * Queue
             * @default
             */
            queue?: string;
            /** Time Limit Seconds */
            time_limit_seconds?: number | null;
            /** Deadline */
            deadline?: string | null;
            machine?: components["schemas"]["MachineUse"] | null;
            /**
             * Class
             * @default
             */
            class?: string;
            /**
             * Placement
             * @default
             */
            placement?: string;
            /**
             * Movable
             * @default false
             */
            movable?: boolean;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Fallback Gpu Types
             * @default []
             */
            fallback_gpu_types?: string[];
            resources?: components["schemas"]["Resources"] | null;
            /**
             * Annotations
             * @default {}
             */
            annotations?: {
                [key: string]: string;
            };
            /**
             * Language
             * @default hip
             */
            language?: string;
            /**
             * Problem Def
             * @default
             */
            problem_def?: string;
            /** Launch Plan */
            launch_plan?: {
                [key: string]: unknown;
            } | null;
            timing?: components["schemas"]["TimingMode"] | null;
            /**
             * Profile
             * @default false
             */
            profile?: boolean;
            /**
             * Dtype
             * @default float32
             */
            dtype?: string;
            /** @default full */
            endpoint?: components["schemas"]["Endpoint"];
            /**
             * Problem
             * @default
             */
            problem?: string;
            /** Solution Code */
            solution_code: string;
            /**
             * Submission Id
             * @default
             */
            submission_id?: string;
        };
        /** Applied */
        Applied: {
            /** Changes */
            changes: components["schemas"]["QueueChange"][];
            /** Generation */
            generation: number;
        };
        /** ApplyRequest */
        ApplyRequest: {
            /**
             * Documents
             * @default []
             */
            documents?: components["schemas"]["QueueDocument"][];
            /**
             * Removed
             * @default []
             */
            removed?: string[];
            /**
             * Prune
             * @default false
             */
            prune?: boolean;
            /**
             * Dry Run
             * @default false
             */
            dry_run?: boolean;
            /**
             * Expected Generation
             * @default 0
             */
            expected_generation?: number;
        };
        /** Assumptions */
        Assumptions: {
            /** Gpu Type */
            gpu_type: string;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Minimum Billed Seconds */
            minimum_billed_seconds: number;
            /** Billing Increment Seconds */
            billing_increment_seconds: number;
            /** Cold Start Seconds */
            cold_start_seconds: number;
            /** Run Seconds */
            run_seconds: number;
            /** Idle Timeout Seconds */
            idle_timeout_seconds: number;
            /** Warm Share */
            warm_share: number;
            /** Grant Usd */
            grant_usd: number;
            /** Days Per Month */
            days_per_month: number;
        };
        /** Availability */
        Availability: {
            /** Gpu Types */
            gpu_types: components["schemas"]["GpuAvailability"][];
        };
        /** Budget */
        Budget: {
            /** Id */
            id: string;
            /** Scope */
            scope: string;
            /** Subject */
            subject: string;
            /** Subject Name */
            subject_name: string;
            /** Period */
            period: string;
            /** Limit Usd */
            limit_usd: number;
            /** Spent Usd */
            spent_usd: number;
            /** Hard */
            hard: boolean;
        };
        /** BudgetList */
        BudgetList: {
            /** Budgets */
            budgets: components["schemas"]["Budget"][];
        };
        /** BudgetRequest */
        BudgetRequest: {
            /**
             * Scope
             * @enum {string}
             */
            scope: "ACCOUNT" | "USER" | "QUEUE";
            /** Subject */
            subject: string;
            /**
             * Period
             * @enum {string}
             */
            period: "DAY" | "WEEK" | "MONTH" | "TOTAL";
            /** Limit Usd */
            limit_usd: number | string;
            /**
             * Hard
             * @default true
             */
            hard?: boolean;
        };
        /** BuildContext */
        BuildContext: {
            /** Build Digest */
            build_digest: string;
        };
        /** BuildContextRequest */
        BuildContextRequest: {
            /**
             * Content
             * Format: base64
             */
            content: string;
        };
        /** CalendarEntry */
        CalendarEntry: {
            /** Gpu Type */
            gpu_type: string;
            /** Gpu Count */
            gpu_count: number;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** State */
            state: string;
            /** Machine Id */
            machine_id: string | null;
            /** Late */
            late: boolean;
            /** Reservation Id */
            reservation_id: string | null;
            /** Name */
            name: string | null;
            /** Owner */
            owner: string | null;
        };
        /** CancelAnswer */
        CancelAnswer: {
            /** Success */
            success: boolean;
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Message */
            message: string;
        };
        /** CancelRequest */
        CancelRequest: {
            /** Submissionid */
            submissionId: string;
        };
        /** CaseComparison */
        CaseComparison: {
            /** Name */
            name: string;
            /** Base Runtime Ms */
            base_runtime_ms: number;
            /** Other Runtime Ms */
            other_runtime_ms: number;
            /** Speedup */
            speedup: number;
            /** Speedup Low */
            speedup_low: number;
            /** Speedup High */
            speedup_high: number;
        };
        /** ChangedReservation */
        ChangedReservation: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Owner */
            owner: string;
            /** Owner Id */
            owner_id: string;
            /** Account Id */
            account_id: string;
            /** State */
            state: string;
            /** Message */
            message: string;
            /** Gpu Type */
            gpu_type: string;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Gpu Count */
            gpu_count: number;
            /** Machine Id */
            machine_id: string | null;
            /** Machine Gpus */
            machine_gpus: number[];
            /** Nodes */
            nodes: components["schemas"]["Node"][];
            /** Hours */
            hours: number;
            /** Queue */
            queue: string;
            /** Priority */
            priority: number;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** Launched At */
            launched_at: string | null;
            /** Active At */
            active_at: string | null;
            /** Expires At */
            expires_at: string | null;
            /** End Time */
            end_time: string | null;
            /** Time Left Seconds */
            time_left_seconds: number | null;
            /** Position */
            position: number | null;
            /** Eta P50 */
            eta_p50: number | null;
            /** Eta P90 */
            eta_p90: number | null;
            /** Disk Name */
            disk_name: string | null;
            /** Disk Safe Time */
            disk_safe_time: string | null;
            /** Disk Fault */
            disk_fault: string | null;
            /** Image */
            image: string | null;
            /** Build Digest */
            build_digest: string | null;
            /** Preserve Entrypoint */
            preserve_entrypoint: boolean;
            /** Image Digest */
            image_digest: string | null;
            /** Steps */
            steps: components["schemas"]["Step"][];
            /** Extensions */
            extensions: components["schemas"]["Extension"][];
            /** Borrowed Gpus */
            borrowed_gpus: number;
            /** Recall Time */
            recall_time: string | null;
            /** Recall Queue */
            recall_queue: string | null;
            /** History */
            history: components["schemas"]["Act"][];
            /** Gaps */
            gaps: string[];
            /** Software */
            software: {
                [key: string]: string;
            };
            /** Host Key */
            host_key: string | null;
            /** Login User */
            login_user: string | null;
            /** Ssh Command */
            ssh_command: string | null;
            /** Users */
            users: string[];
            /** Editors */
            editors: string[];
            /** Keys */
            keys: components["schemas"]["gateway__reservations__schemas__UserKey"][];
            /** Oom Count */
            oom_count: number;
            /** Last Oom At */
            last_oom_at: string | null;
            /** Last Login At */
            last_login_at: string | null;
            /** Idle Since */
            idle_since: string | null;
            /** Connections */
            connections: number;
            /** Price Per Gpu Hour */
            price_per_gpu_hour: number;
            /** Hold Usd */
            hold_usd: number;
            /** Cost Usd */
            cost_usd: number;
            /** Machine Cost Usd */
            machine_cost_usd?: number | null;
            /** Overhead Usd */
            overhead_usd?: number | null;
            /** Surplus Usd */
            surplus_usd?: number | null;
            /** Events Url */
            events_url: string;
            /** Added Keys */
            added_keys: components["schemas"]["AddedKey"][];
            /** Notes */
            notes: string[];
        };
        /** CirculatingFigure */
        CirculatingFigure: {
            /** Tasks Per Day */
            tasks_per_day: number;
            /** Month Low Usd */
            month_low_usd: number;
            /** Month High Usd */
            month_high_usd: number;
            /** Grant Months */
            grant_months: number;
        };
        /** Claim */
        Claim: {
            /** Challenge */
            challenge: string;
            /** Expire Time */
            expire_time: string | null;
            /** Fingerprints */
            fingerprints: string[];
        };
        /**
         * ClaimRequest
         * @example {
         *       "github_name": "alice"
         *     }
         */
        ClaimRequest: {
            /** Github Name */
            github_name: string;
        };
        /** ClaimedName */
        ClaimedName: {
            /** Github Name */
            github_name: string;
        };
        /** Comparison */
        Comparison: {
            /** Base */
            base: string;
            /** Other */
            other: string;
            /** Verdict */
            verdict: string;
            /** Reason */
            reason: string;
            /** Speedup */
            speedup: number;
            /** Speedup Low */
            speedup_low: number;
            /** Speedup High */
            speedup_high: number;
            /** Cases */
            cases: components["schemas"]["CaseComparison"][];
        };
        /** CostPart */
        CostPart: {
            /** Reason */
            reason: string;
            /** Amount Usd */
            amount_usd: number;
        };
        /** CostReport */
        CostReport: {
            /** Cost Usd */
            cost_usd: number;
            /** Charged Usd */
            charged_usd: number;
            /** Overhead Usd */
            overhead_usd: number;
            /** Surplus Usd */
            surplus_usd: number;
            /** Cost Note */
            cost_note: string;
            /** Costs */
            costs: components["schemas"]["CostPart"][];
            /** Overheads */
            overheads: components["schemas"]["CostPart"][];
            /** Policy */
            policy: string;
            /** Accounts */
            accounts: components["schemas"]["AccountCosts"][];
            /** Cloud Granted Usd */
            cloud_granted_usd: number;
            /** Cloud Remaining Usd */
            cloud_remaining_usd: number;
        };
        /** Costs */
        Costs: {
            /** Account Name */
            account_name: string;
            /** Granted Usd */
            granted_usd: number;
            /** Charged Usd */
            charged_usd: number;
            /** Held Usd */
            held_usd: number;
            /** Available Usd */
            available_usd: number;
            /** Alert Threshold Pct */
            alert_threshold_pct: number;
            /** Alert Fired */
            alert_fired: boolean;
            /** Postings */
            postings: components["schemas"]["Posting"][];
            /** Next Page Token */
            next_page_token: string;
        };
        /** Credit */
        Credit: {
            /** Available Usd */
            available_usd: number;
        };
        /** DirectSubmitRequest */
        DirectSubmitRequest: {
            /**
             * Gputype
             * @default
             */
            gpuType?: string;
            /**
             * Queue
             * @default
             */
            queue?: string;
            /** Time Limit Seconds */
            time_limit_seconds?: number | null;
            /** Deadline */
            deadline?: string | null;
            machine?: components["schemas"]["MachineUse"] | null;
            /**
             * Class
             * @default
             */
            class?: string;
            /**
             * Placement
             * @default
             */
            placement?: string;
            /**
             * Movable
             * @default false
             */
            movable?: boolean;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Fallbackgputypes
             * @default []
             */
            fallbackGpuTypes?: string[];
            resources?: components["schemas"]["Resources"] | null;
            /**
             * Annotations
             * @default {}
             */
            annotations?: {
                [key: string]: string;
            };
            /**
             * Language
             * @default hip
             */
            language?: string;
            /**
             * Problem Def
             * @default
             */
            problem_def?: string;
            /** Launch Plan */
            launch_plan?: {
                [key: string]: unknown;
            } | null;
            timing?: components["schemas"]["TimingMode"] | null;
            /**
             * Profile
             * @default false
             */
            profile?: boolean;
            /**
             * Dtype
             * @default float32
             */
            dtype?: string;
            /** Problemslug */
            problemSlug: string;
            /** Code */
            code: string;
        };
        /** Disk */
        Disk: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Owner */
            owner: string;
            /** Owner Id */
            owner_id: string;
            /** State */
            state: string;
            /** Size Limit Bytes */
            size_limit_bytes: number;
            /** Size Bytes */
            size_bytes: number;
            /** Create Time */
            create_time: string | null;
            /** Last Used Time */
            last_used_time: string | null;
            /** Safe Time */
            safe_time: string | null;
            /** Reservation Id */
            reservation_id: string | null;
            /** Delete Time */
            delete_time: string | null;
            /** Remove Time */
            remove_time: string | null;
            /** Snapshots */
            snapshots: components["schemas"]["DiskSnapshot"][];
        };
        /** DiskContent */
        DiskContent: {
            snapshot: components["schemas"]["DiskSnapshot"] | null;
            /** Files */
            files: components["schemas"]["DiskFile"][];
            /** Is Cut */
            is_cut: boolean;
        };
        /** DiskFile */
        DiskFile: {
            /** Path */
            path: string;
            /** Size Bytes */
            size_bytes: number;
            /** Time */
            time: string | null;
        };
        /** DiskList */
        DiskList: {
            /** Disks */
            disks: components["schemas"]["Disk"][];
        };
        /**
         * DiskRequest
         * @example {
         *       "name": "training",
         *       "size_gib": 50
         *     }
         */
        DiskRequest: {
            /** Name */
            name: string;
            /** Size Gib */
            size_gib?: number | null;
        };
        /** DiskSnapshot */
        DiskSnapshot: {
            /** Id */
            id: string;
            /** Time */
            time: string | null;
            /** Size Bytes */
            size_bytes: number;
            /** Files */
            files: number;
            /** Reason */
            reason: string;
            /** Seconds */
            seconds: number;
        };
        /**
         * Endpoint
         * @enum {string}
         */
        Endpoint: "checker" | "benchmark" | "full" | "sample" | "sandbox";
        /** Explanation */
        Explanation: {
            /** Id */
            id: string;
            /** Queue */
            queue: string;
            /** Position */
            position: number | null;
            /** Ahead In Queue */
            ahead_in_queue: number;
            /** Ahead In Others */
            ahead_in_others: number;
            /** Reason */
            reason: string;
            /** Remedy */
            remedy: string;
            /** Eta P50 Seconds */
            eta_p50_seconds: number | null;
            /** Eta P90 Seconds */
            eta_p90_seconds: number | null;
            /** Estimate Basis */
            estimate_basis: string;
            /** Machines */
            machines: components["schemas"]["MachineRefusal"][];
            /** Shares */
            shares: components["schemas"]["QueueShare"][];
            /** Ordering */
            ordering: string;
            /** Class */
            class: string | null;
            /** Class Value */
            class_value: number;
            /** Placement */
            placement: string;
            /** Deadline */
            deadline: string | null;
            /** Latest Start Time */
            latest_start_time: string | null;
        };
        /** Extension */
        Extension: {
            /** Hours */
            hours: number;
            /** At */
            at: string | null;
            /** By */
            by: string;
        };
        /**
         * ExtensionRequest
         * @example {
         *       "hours": 1.5
         *     }
         */
        ExtensionRequest: {
            /** Hours */
            hours: number;
        };
        /** FairnessDocument */
        FairnessDocument: {
            /** Policy */
            policy?: string | null;
            /** Reclaimstrategy */
            reclaimStrategy?: string | null;
            /** Reclaimminruntime */
            reclaimMinRuntime?: number | null;
        };
        /** FieldChange */
        FieldChange: {
            /** Field */
            field: string;
            /** Before */
            before: string;
            /** After */
            after: string;
        };
        /** GpuAvailability */
        GpuAvailability: {
            /** Gpu Type */
            gpu_type: string;
            /** Total Gpus */
            total_gpus: number;
            /** Free Gpus */
            free_gpus: number;
            /** Largest Free */
            largest_free: number;
            /** Startable Gpus */
            startable_gpus: number;
            /** Reserved Gpus */
            reserved_gpus: number;
            /** Queue Length */
            queue_length: number;
            /** Price Per Gpu Hour */
            price_per_gpu_hour: number;
            /** Waits */
            waits: components["schemas"]["SizeWait"][];
            /** Next Dated Time */
            next_dated_time: string | null;
            /** Next Dated Gpus */
            next_dated_gpus: number;
            /** Maintenance */
            maintenance: string | null;
            queue_head: components["schemas"]["QueueHead"] | null;
        };
        /** GpuPrice */
        GpuPrice: {
            /** Gpu Type */
            gpu_type: string;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
        };
        /** GpuRange */
        GpuRange: {
            /** Min */
            min: number;
            /** Max */
            max: number;
        };
        /** GpuTimePrice */
        GpuTimePrice: {
            /** Gpu Type */
            gpu_type: string;
            /** Spot */
            spot: boolean;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Minimum Billed Seconds */
            minimum_billed_seconds: number;
            /** Billing Increment Seconds */
            billing_increment_seconds: number;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Text */
            text: string;
        };
        /** GpuTypes */
        GpuTypes: {
            /** Gpu Types */
            gpu_types: components["schemas"]["GpuPrice"][];
        };
        /** Grant */
        Grant: {
            /** Id */
            id: number;
            /** Amount Usd */
            amount_usd: number;
            /** Remaining Usd */
            remaining_usd: number;
            /** Create Time */
            create_time: string | null;
            /** Expire Time */
            expire_time: string | null;
            /** Description */
            description: string;
        };
        /** GrantList */
        GrantList: {
            /** Grants */
            grants: components["schemas"]["Grant"][];
        };
        /**
         * GrantRequest
         * @example {
         *       "account_id": "acct_01J",
         *       "amount_usd": 5
         *     }
         */
        GrantRequest: {
            /** Account Id */
            account_id: string;
            /** Amount Usd */
            amount_usd: number | string;
            /** Expire Time */
            expire_time?: string | null;
            /**
             * Description
             * @default
             */
            description?: string;
        };
        /**
         * Grouping
         * @enum {string}
         */
        Grouping: "all" | "user" | "queue" | "machine" | "problem" | "gpu_type";
        /** HistoryProjection */
        HistoryProjection: {
            /** Days */
            days: number;
            /** Least Days */
            least_days: number;
            /** Remaining Usd */
            remaining_usd: number;
            month: components["schemas"]["MonthRange"] | null;
            /** Months Left Low */
            months_left_low: number | null;
            /** Months Left High */
            months_left_high: number | null;
            task_costs: components["schemas"]["TaskCosts"] | null;
        };
        /**
         * Isolation
         * @enum {string}
         */
        Isolation: "exclusive" | "partition" | "time-slice" | "cu-mask";
        /** JobClassDocument */
        JobClassDocument: {
            /**
             * Value
             * @default 0
             */
            value?: number;
            /**
             * Administratorsonly
             * @default false
             */
            administratorsOnly?: boolean;
        };
        /** JobFigures */
        JobFigures: {
            /** Group */
            group: string;
            /** Name */
            name: string;
            /** Jobs */
            jobs: number;
            /** Succeeded */
            succeeded: number;
            /** Accepted */
            accepted: number;
            /** Failed */
            failed: number;
            /** Cancelled */
            cancelled: number;
            /** Lost Attempts */
            lost_attempts: number;
            wait: components["schemas"]["Spread"] | null;
            run: components["schemas"]["Spread"] | null;
            /** Useful Gpu Seconds */
            useful_gpu_seconds: number;
            /** Paid Gpu Seconds */
            paid_gpu_seconds: number;
            /** Efficiency */
            efficiency: number | null;
            /** Gflops */
            gflops: number | null;
        };
        /** JobMetrics */
        JobMetrics: {
            group_by: components["schemas"]["Grouping"];
            /** Since */
            since: string | null;
            /** Until */
            until: string | null;
            /** Kept Since */
            kept_since: string | null;
            /** Groups */
            groups: components["schemas"]["JobFigures"][];
        };
        /** Key */
        Key: {
            /**
             * User
             * @default
             */
            user?: string;
            /** Public Key */
            public_key: string;
        };
        /** KeyList */
        KeyList: {
            /** Keys */
            keys: components["schemas"]["gateway__routes__keys__UserKey"][];
            /** Github Name */
            github_name: string;
        };
        /**
         * KeyRequest
         * @example {
         *       "public_key": "ssh-ed25519 AAAA… ada@laptop"
         *     }
         */
        KeyRequest: {
            /** Public Key */
            public_key: string;
            /**
             * Name
             * @default
             */
            name?: string;
        };
        /** LedgerProof */
        LedgerProof: {
            /** Right */
            right: boolean;
            /** Transactions */
            transactions: number;
            /** Postings */
            postings: number;
            /** Last Seq */
            last_seq: number;
            /** Last Digest */
            last_digest: string;
            /** Faults */
            faults: string[];
        };
        /**
         * LevelName
         * @enum {string}
         */
        LevelName: "member" | "manager";
        /** Limits */
        Limits: {
            /** Remaining Submissions */
            remaining_submissions: number;
            /** Jobs In Flight */
            jobs_in_flight: number;
            /** Max Jobs In Flight */
            max_jobs_in_flight: number;
            /** Submissions In Last Hour */
            submissions_in_last_hour: number;
            /** Max Submissions Per Hour */
            max_submissions_per_hour: number | null;
            /** Renew After Seconds */
            renew_after_seconds: number | null;
        };
        /** Machine */
        Machine: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Provider */
            provider: string;
            /** Backend */
            backend: string;
            /** Region */
            region: string;
            /** Spot */
            spot: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Gpu Count */
            gpu_count: number;
            /** Device */
            device: string;
            /** Device Title */
            device_title: string;
            /** Architecture */
            architecture: string;
            /** Memory Mib */
            memory_mib: number;
            /** Compute Units */
            compute_units: number;
            /** Free Eighths */
            free_eighths: number;
            /** Leased Eighths */
            leased_eighths: number;
            /** Reservation Ids */
            reservation_ids: string[];
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Minimum Billed Seconds */
            minimum_billed_seconds: number;
            /** Billing Increment Seconds */
            billing_increment_seconds: number;
            /** Cost Usd */
            cost_usd: number;
            /** Jobs Run */
            jobs_run: number;
            /** Origin */
            origin: string;
            /** Request Id */
            request_id: string;
            /** Max Price Usd Per Hour */
            max_price_usd_per_hour: number;
            /** Max Duration Seconds */
            max_duration_seconds: number;
            /** Reason */
            reason: string;
            /** Provider Stage */
            provider_stage: string;
            /** Fault */
            fault: string | null;
            /** Exit Status */
            exit_status: number | null;
            /** Sandbox */
            sandbox: string;
            /** Sandbox Gaps */
            sandbox_gaps: string[];
            /** Torch Version */
            torch_version: string | null;
            /** Signing Public Key */
            signing_public_key: string;
            /** Create Time */
            create_time: string | null;
            /** Ready Time */
            ready_time: string | null;
            /** Last Used Time */
            last_used_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Release Time */
            release_time: string | null;
        };
        /** MachineList */
        MachineList: {
            /** Machines */
            machines: components["schemas"]["Machine"][];
            /** Refused Providers */
            refused_providers: components["schemas"]["ProviderFailure"][];
            /** Stopped Sources */
            stopped_sources: components["schemas"]["StoppedSource"][];
        };
        /**
         * MachineOrder
         * @example {
         *       "gpu_type": "MI300X",
         *       "max_price_usd_per_hour": 3
         *     }
         */
        MachineOrder: {
            /**
             * Gpu Type
             * @default
             */
            gpu_type?: string;
            /**
             * Gpu Count
             * @default 1
             */
            gpu_count?: number;
            /**
             * Provider
             * @default
             */
            provider?: string;
            /**
             * Backend
             * @default
             */
            backend?: string;
            /**
             * Region
             * @default
             */
            region?: string;
            spot?: components["schemas"]["SpotChoice"] | null;
            /**
             * Max Price Usd Per Hour
             * @default 0
             */
            max_price_usd_per_hour?: number;
            /**
             * Max Duration Seconds
             * @default 0
             */
            max_duration_seconds?: number;
            /**
             * Force New
             * @default false
             */
            force_new?: boolean;
            /**
             * Reason
             * @default
             */
            reason?: string;
        };
        /** MachineRefusal */
        MachineRefusal: {
            /** Machine Id */
            machine_id: string;
            /** Gpu Type */
            gpu_type: string;
            /** Reason */
            reason: string;
            /** Scores */
            scores: components["schemas"]["PlacementScore"][];
        };
        /** MachineUse */
        MachineUse: {
            /** @default reuse-or-create */
            reuse?: components["schemas"]["Reuse"];
            /** Idle Seconds */
            idle_seconds?: number | null;
            /**
             * Wait For Operator
             * @default false
             */
            wait_for_operator?: boolean;
        };
        /**
         * MaintenanceRequest
         * @example {
         *       "reason": "new firmware",
         *       "until": "2027-01-15T15:00:00Z"
         *     }
         */
        MaintenanceRequest: {
            /** Reason */
            reason: string;
            /** Until */
            until?: string | null;
        };
        /** Me */
        Me: {
            /** User Id */
            user_id: string;
            /** User Name */
            user_name: string;
            /** Role */
            role: string;
            /** Account Id */
            account_id: string;
            /** Account Name */
            account_name: string;
            /** Token Id */
            token_id: string;
            /** Admin */
            admin: boolean;
            /** Scopes */
            scopes: string[];
            /** Expire Time */
            expire_time: string | null;
        };
        /** Member */
        Member: {
            /** User Id */
            user_id: string;
            /** User Name */
            user_name: string;
            /** Level */
            level: string;
            /** From Sign In */
            from_sign_in: boolean;
        };
        /**
         * MemberRequest
         * @example {
         *       "level": "member"
         *     }
         */
        MemberRequest: {
            /** @default member */
            level?: components["schemas"]["LevelName"];
        };
        /**
         * Mode
         * @enum {string}
         */
        Mode: "check" | "benchmark" | "full" | "sample" | "sandbox";
        /** MonthRange */
        MonthRange: {
            /** Low Usd */
            low_usd: number;
            /** Middle Usd */
            middle_usd: number;
            /** High Usd */
            high_usd: number;
        };
        /** NewBudget */
        NewBudget: {
            /** Id */
            id: string;
        };
        /**
         * NewName
         * @example {
         *       "name": "training-2"
         *     }
         */
        NewName: {
            /** Name */
            name: string;
        };
        /**
         * NewPrice
         * @example {
         *       "gpu_type": "MI300X",
         *       "price_usd_per_hour": 2.29,
         *       "start_time": "2027-01-01T00:00:00Z"
         *     }
         */
        NewPrice: {
            /** Gpu Type */
            gpu_type: string;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /**
             * Spot
             * @default false
             */
            spot?: boolean;
            /**
             * Minimum Billed Seconds
             * @default 0
             */
            minimum_billed_seconds?: number;
            /**
             * Billing Increment Seconds
             * @default 0
             */
            billing_increment_seconds?: number;
            /** Start Time */
            start_time?: string | null;
            /** End Time */
            end_time?: string | null;
            /**
             * Replace Planned
             * @default false
             */
            replace_planned?: boolean;
            /**
             * Currency
             * @default USD
             */
            currency?: string;
        };
        /** NewSubmission */
        NewSubmission: {
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            /** Problem */
            problem: string;
            /** Mode */
            mode: string;
            /** Timing */
            timing: string | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** Priority */
            priority: number;
            /** Queue */
            queue: string;
            /** Time Limit Seconds */
            time_limit_seconds: number | null;
            resources: components["schemas"]["AdmittedResources"];
            /** Class */
            class: string | null;
            /** Placement */
            placement: string | null;
            /** Movable */
            movable: boolean;
            machine: components["schemas"]["AdmittedMachineUse"];
            /** Deadline */
            deadline: string | null;
            /** State */
            state: string;
            /** Status */
            status: string | null;
            /** Verdict */
            verdict: string | null;
            /** Timing Status */
            timing_status: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /** Remaining Submissions */
            remaining_submissions: number;
        };
        /** NewToken */
        NewToken: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** User Id */
            user_id: string;
            /** User Name */
            user_name: string;
            /** Account Id */
            account_id: string;
            /** Account Name */
            account_name: string;
            /** Scopes */
            scopes: string[];
            /** Create Time */
            create_time: string | null;
            /** Expire Time */
            expire_time: string | null;
            /** Revoke Time */
            revoke_time: string | null;
            /** Token */
            token: string;
        };
        /** Node */
        Node: {
            /** Rank */
            rank: number;
            /** Machine Id */
            machine_id: string | null;
            /** Machine Gpus */
            machine_gpus: number[];
            /** State */
            state: string;
            /** Ready At */
            ready_at: string | null;
            /** Host Key */
            host_key: string | null;
            /** Login User */
            login_user: string | null;
            /** Gaps */
            gaps: string[];
        };
        /** Notices */
        Notices: {
            /** Notify */
            notify: string;
            /** Email */
            email: string;
            /** Available */
            available: boolean;
        };
        /**
         * NoticesChange
         * @example {
         *       "notify": "failed"
         *     }
         */
        NoticesChange: {
            notify: components["schemas"]["NotifyWord"];
        };
        /** Notified */
        Notified: {
            /** Terminals */
            terminals: number;
        };
        /**
         * NotifyRequest
         * @example {
         *       "text": "Maintenance at noon."
         *     }
         */
        NotifyRequest: {
            /** Text */
            text: string;
        };
        /**
         * NotifyWord
         * @enum {string}
         */
        NotifyWord: "never" | "failed" | "always";
        /** Offer */
        Offer: {
            /** Provider */
            provider: string;
            /** Backend */
            backend: string;
            /** Region */
            region: string;
            /** Gpu Type */
            gpu_type: string;
            /** Gpu Count */
            gpu_count: number;
            /** Spot */
            spot: boolean;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Charge Usd Per Hour */
            charge_usd_per_hour: number | null;
            /** Minimum Billed Seconds */
            minimum_billed_seconds: number;
            /** Billing Increment Seconds */
            billing_increment_seconds: number;
            /** Available */
            available: boolean;
        };
        /** OfferList */
        OfferList: {
            /** Offers */
            offers: components["schemas"]["Offer"][];
            /** Failures */
            failures: components["schemas"]["ProviderFailure"][];
        };
        /** OrchestratorMetrics */
        OrchestratorMetrics: {
            /** Total Cost Usd */
            total_cost_usd: number;
            /** Charged Usd */
            charged_usd: number;
            /** Cost Note */
            cost_note: string;
            /** Remaining Credits Usd */
            remaining_credits_usd: number;
            /** Credits Used Pct */
            credits_used_pct: number;
            /** Tasks Completed */
            tasks_completed: number;
            /** Cold Starts */
            cold_starts: number;
            /** Warm Reuses */
            warm_reuses: number;
            /** Total Vms */
            total_vms: number;
            /** Active Vms */
            active_vms: number;
            /** Busy Vms */
            busy_vms: number;
            /** Idle Seconds */
            idle_seconds: number;
            /** Vm Cost Usd */
            vm_cost_usd: number;
            /** Vm Pool */
            vm_pool: components["schemas"]["VmPoolEntry"][];
            /** Queued Jobs */
            queued_jobs: number;
            /** Running Jobs */
            running_jobs: number;
        };
        /** OrderedMachine */
        OrderedMachine: {
            machine: components["schemas"]["Machine"];
            /** Started */
            started: boolean;
            /** Events Url */
            events_url: string;
        };
        /** PlacementScore */
        PlacementScore: {
            /** Name */
            name: string;
            /** Value */
            value: number;
        };
        /** Posting */
        Posting: {
            /** Id */
            id: string;
            /** Create Time */
            create_time: string | null;
            /** Kind */
            kind: string;
            /** Amount Usd */
            amount_usd: number;
            /** Description */
            description: string;
        };
        /** PriceHistory */
        PriceHistory: {
            /** Periods */
            periods: components["schemas"]["PricePeriod"][];
        };
        /** PriceList */
        PriceList: {
            /** Currency */
            currency: string;
            /** Prices */
            prices: components["schemas"]["GpuTimePrice"][];
        };
        /** PricePeriod */
        PricePeriod: {
            /** Gpu Type */
            gpu_type: string;
            /** Spot */
            spot: boolean;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Minimum Billed Seconds */
            minimum_billed_seconds: number;
            /** Billing Increment Seconds */
            billing_increment_seconds: number;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Text */
            text: string;
            /** Id */
            id: string;
            /** Source */
            source: string;
            /** Create Time */
            create_time: string | null;
        };
        /** ProblemDetail */
        ProblemDetail: {
            /** Slug */
            slug: string;
            /** Title */
            title: string;
            /** Difficulty */
            difficulty: string;
            /** Tags */
            tags: string[];
            /** Dtypes */
            dtypes: string[];
            /** Signature */
            signature: string;
            /** Statement */
            statement: string;
            /** Starter */
            starter: string;
        };
        /** ProblemList */
        ProblemList: {
            /** Problems */
            problems: components["schemas"]["ProblemSummary"][];
        };
        /** ProblemSummary */
        ProblemSummary: {
            /** Slug */
            slug: string;
            /** Title */
            title: string;
            /** Difficulty */
            difficulty: string;
            /** Tags */
            tags: string[];
            /** Dtypes */
            dtypes: string[];
            /** Signature */
            signature: string;
        };
        /** Projections */
        Projections: {
            assumptions: components["schemas"]["Assumptions"];
            /** Scenarios */
            scenarios: components["schemas"]["Scenario"][];
            /** Circulating */
            circulating: components["schemas"]["CirculatingFigure"][];
            /** Left Out */
            left_out: string[];
            history: components["schemas"]["HistoryProjection"];
        };
        /** ProviderDiagnosis */
        ProviderDiagnosis: {
            /** Findings */
            findings: components["schemas"]["ProviderFinding"][];
        };
        /** ProviderFailure */
        ProviderFailure: {
            /** Provider */
            provider: string;
            /** Message */
            message: string;
        };
        /** ProviderFinding */
        ProviderFinding: {
            /** Provider */
            provider: string;
            /** Check */
            check: string;
            /** Ok */
            ok: boolean;
            /** Message */
            message: string;
            /** Remedy */
            remedy: string;
        };
        /** Queue */
        Queue: {
            /** Name */
            name: string;
            /** Display Name */
            display_name: string;
            /** Parent */
            parent: string | null;
            /** Closed */
            closed: boolean;
            /** Waiting */
            waiting: number;
            /** Running */
            running: number;
            /** Later Reservations */
            later_reservations: number;
            /** Shares */
            shares: components["schemas"]["QueueShare"][];
            /** Ordering */
            ordering: string;
            /** Placement */
            placement: string;
            /** Classes */
            classes: {
                [key: string]: unknown;
            };
            /** Default Class */
            default_class: string | null;
            /** Max Priority */
            max_priority: number;
            /** Document */
            document: {
                [key: string]: unknown;
            };
        };
        /** QueueChange */
        QueueChange: {
            /** Name */
            name: string;
            /** Kind */
            kind: string;
            /** Fields */
            fields: components["schemas"]["FieldChange"][];
        };
        /**
         * QueueDocument
         * @example {
         *       "apiVersion": "kaiwo.ai/v1alpha2",
         *       "kind": "KaiwoQueue",
         *       "metadata": {
         *         "name": "red"
         *       },
         *       "spec": {
         *         "displayName": "Team Red",
         *         "fairness": {
         *           "policy": "kai",
         *           "reclaimStrategy": "conservative"
         *         },
         *         "parentQueue": "lab",
         *         "priority": 100,
         *         "resources": {
         *           "gpu": {
         *             "limit": 8,
         *             "overQuotaWeight": 1,
         *             "quota": 4
         *           }
         *         }
         *       }
         *     }
         */
        QueueDocument: {
            /**
             * Apiversion
             * @constant
             */
            apiVersion: "kaiwo.ai/v1alpha2";
            /**
             * Kind
             * @constant
             */
            kind: "KaiwoQueue";
            metadata: components["schemas"]["QueueMetadata"];
            /**
             * @default {
             *       "displayName": "",
             *       "parentQueue": "",
             *       "resources": {},
             *       "fairness": {},
             *       "maxJobsPerUser": 0,
             *       "closed": false,
             *       "ordering": "",
             *       "placement": "",
             *       "classes": {},
             *       "defaultClass": "",
             *       "maxPriorityByAccount": {}
             *     }
             */
            spec?: components["schemas"]["QueueSpecDocument"];
            /** Status */
            status?: {
                [key: string]: unknown;
            } | null;
        };
        /** QueueFigures */
        QueueFigures: {
            /** Queue */
            queue: string;
            /** Gpu Type */
            gpu_type: string;
            /** Waiting Jobs */
            waiting_jobs: number;
            /** Running Jobs */
            running_jobs: number;
            /** Oldest Wait Seconds */
            oldest_wait_seconds: number;
            /** P90 Wait Seconds */
            p90_wait_seconds: number;
            /** Stuck Jobs */
            stuck_jobs: number;
            /** Ended Jobs */
            ended_jobs: number;
            /** Failed Jobs */
            failed_jobs: number;
            /** Lost Attempts */
            lost_attempts: number;
        };
        /** QueueHead */
        QueueHead: {
            /** Gpu Count */
            gpu_count: number;
            /** Gpu Fraction */
            gpu_fraction: number | null;
            /** Create Time */
            create_time: string | null;
            /** Reason */
            reason: string;
        };
        /** QueueList */
        QueueList: {
            /** Queues */
            queues: components["schemas"]["Queue"][];
            /** Generation */
            generation: number;
            /** Plugins */
            plugins: components["schemas"]["SchedulerPlugin"][];
        };
        /** QueueMetadata */
        QueueMetadata: {
            /** Name */
            name: string;
        };
        /** QueueMetrics */
        QueueMetrics: {
            /** Queues */
            queues: components["schemas"]["QueueFigures"][];
            /** Window Seconds */
            window_seconds: number;
        };
        /** QueueShare */
        QueueShare: {
            /** Gpu Type */
            gpu_type: string;
            /** Quota */
            quota: number;
            /** Fair Share */
            fair_share: number;
            /** Used */
            used: number;
            /** Limit */
            limit: number | null;
        };
        /** QueueSpecDocument */
        QueueSpecDocument: {
            /**
             * Displayname
             * @default
             */
            displayName?: string;
            /**
             * Parentqueue
             * @default
             */
            parentQueue?: string;
            /** Priority */
            priority?: number | null;
            /**
             * Resources
             * @default {}
             */
            resources?: {
                [key: string]: components["schemas"]["ResourceDocument"];
            };
            /** @default {} */
            fairness?: components["schemas"]["FairnessDocument"];
            /**
             * Maxjobsperuser
             * @default 0
             */
            maxJobsPerUser?: number;
            /**
             * Closed
             * @default false
             */
            closed?: boolean;
            /** Timelimit */
            timeLimit?: number | null;
            /** Longestborrowing */
            longestBorrowing?: number | null;
            /** Recallnotice */
            recallNotice?: number | null;
            /**
             * Ordering
             * @default
             */
            ordering?: string;
            /**
             * Placement
             * @default
             */
            placement?: string;
            /**
             * Classes
             * @default {}
             */
            classes?: {
                [key: string]: components["schemas"]["JobClassDocument"];
            };
            /**
             * Defaultclass
             * @default
             */
            defaultClass?: string;
            /** Maxpriority */
            maxPriority?: number | null;
            /**
             * Maxprioritybyaccount
             * @default {}
             */
            maxPriorityByAccount?: {
                [key: string]: number;
            };
        };
        /** Quote */
        Quote: {
            /** Hour Usd */
            hour_usd: number;
            /** Price Usd */
            price_usd: number;
            /** Minimum Usd */
            minimum_usd: number;
            /** Hold Usd */
            hold_usd: number;
            /** Duration Seconds */
            duration_seconds: number;
            /** Longest Run Seconds */
            longest_run_seconds: number;
            /** Lines */
            lines: components["schemas"]["QuoteLine"][];
        };
        /** QuoteLine */
        QuoteLine: {
            /** Gpu Type */
            gpu_type: string;
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Hour Usd */
            hour_usd: number;
            /** Price Usd */
            price_usd: number;
            /** Minimum Usd */
            minimum_usd: number;
        };
        /**
         * QuoteRequest
         * @example {
         *       "gpu_count": 8,
         *       "hours": 24
         *     }
         */
        QuoteRequest: {
            /**
             * Gpu Type
             * @default
             */
            gpu_type?: string;
            /**
             * Gpu Count
             * @default 1
             */
            gpu_count?: number;
            /**
             * Distributed
             * @default false
             */
            distributed?: boolean;
            /**
             * Allow Slow Links
             * @default false
             */
            allow_slow_links?: boolean;
            /** Hours */
            hours: number;
            /** Start Time */
            start_time?: string | null;
            /**
             * Queue
             * @default
             */
            queue?: string;
            /**
             * Priority
             * @default 0
             */
            priority?: number;
            /**
             * Fallback Gpu Types
             * @default []
             */
            fallback_gpu_types?: string[];
            /**
             * Disk
             * @default
             */
            disk?: string;
            /**
             * Image
             * @default
             */
            image?: string;
            /**
             * Build Digest
             * @default
             */
            build_digest?: string;
            /**
             * Preserve Entrypoint
             * @default false
             */
            preserve_entrypoint?: boolean;
        };
        /** RankedTime */
        RankedTime: {
            /** Rank */
            rank: number | null;
            /** User */
            user: string;
            /** Is You */
            is_you: boolean;
            /** Submission Id */
            submission_id: string | null;
            /** Runtime Ms */
            runtime_ms: number;
            /** Gflops */
            gflops: number;
            /** End Time */
            end_time: string | null;
            /** Timings */
            timings: number;
        };
        /** Ranking */
        Ranking: {
            /** Problem */
            problem: string;
            /** Gpu Type */
            gpu_type: string;
            /** Dtype */
            dtype: string;
            /** Timing Mode */
            timing_mode: string | null;
            /** Ranked */
            ranked: boolean;
            /** Users */
            users: number;
            /** Rankings */
            rankings: components["schemas"]["RankedTime"][];
            you: components["schemas"]["RankedTime"] | null;
        };
        /** RefundRequest */
        RefundRequest: {
            /** Hold Id */
            hold_id: string;
            /** Amount Usd */
            amount_usd: number | string;
            /**
             * Description
             * @default
             */
            description?: string;
        };
        /** Reservation */
        Reservation: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Owner */
            owner: string;
            /** Owner Id */
            owner_id: string;
            /** Account Id */
            account_id: string;
            /** State */
            state: string;
            /** Message */
            message: string;
            /** Gpu Type */
            gpu_type: string;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Gpu Count */
            gpu_count: number;
            /** Machine Id */
            machine_id: string | null;
            /** Machine Gpus */
            machine_gpus: number[];
            /** Nodes */
            nodes: components["schemas"]["Node"][];
            /** Hours */
            hours: number;
            /** Queue */
            queue: string;
            /** Priority */
            priority: number;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** Launched At */
            launched_at: string | null;
            /** Active At */
            active_at: string | null;
            /** Expires At */
            expires_at: string | null;
            /** End Time */
            end_time: string | null;
            /** Time Left Seconds */
            time_left_seconds: number | null;
            /** Position */
            position: number | null;
            /** Eta P50 */
            eta_p50: number | null;
            /** Eta P90 */
            eta_p90: number | null;
            /** Disk Name */
            disk_name: string | null;
            /** Disk Safe Time */
            disk_safe_time: string | null;
            /** Disk Fault */
            disk_fault: string | null;
            /** Image */
            image: string | null;
            /** Build Digest */
            build_digest: string | null;
            /** Preserve Entrypoint */
            preserve_entrypoint: boolean;
            /** Image Digest */
            image_digest: string | null;
            /** Steps */
            steps: components["schemas"]["Step"][];
            /** Extensions */
            extensions: components["schemas"]["Extension"][];
            /** Borrowed Gpus */
            borrowed_gpus: number;
            /** Recall Time */
            recall_time: string | null;
            /** Recall Queue */
            recall_queue: string | null;
            /** History */
            history: components["schemas"]["Act"][];
            /** Gaps */
            gaps: string[];
            /** Software */
            software: {
                [key: string]: string;
            };
            /** Host Key */
            host_key: string | null;
            /** Login User */
            login_user: string | null;
            /** Ssh Command */
            ssh_command: string | null;
            /** Users */
            users: string[];
            /** Editors */
            editors: string[];
            /** Keys */
            keys: components["schemas"]["gateway__reservations__schemas__UserKey"][];
            /** Oom Count */
            oom_count: number;
            /** Last Oom At */
            last_oom_at: string | null;
            /** Last Login At */
            last_login_at: string | null;
            /** Idle Since */
            idle_since: string | null;
            /** Connections */
            connections: number;
            /** Price Per Gpu Hour */
            price_per_gpu_hour: number;
            /** Hold Usd */
            hold_usd: number;
            /** Cost Usd */
            cost_usd: number;
            /** Machine Cost Usd */
            machine_cost_usd?: number | null;
            /** Overhead Usd */
            overhead_usd?: number | null;
            /** Surplus Usd */
            surplus_usd?: number | null;
            /** Events Url */
            events_url: string;
        };
        /** ReservationCalendar */
        ReservationCalendar: {
            /** Entries */
            entries: components["schemas"]["CalendarEntry"][];
        };
        /**
         * ReservationChange
         * @example {
         *       "name": "training"
         *     }
         */
        ReservationChange: {
            /** Name */
            name: string;
        };
        /** ReservationPage */
        ReservationPage: {
            /** Reservations */
            reservations: components["schemas"]["Reservation"][];
            /** Next Page Token */
            next_page_token: string;
        };
        /** ReservationQuote */
        ReservationQuote: {
            /** Gpu Type */
            gpu_type: string;
            /** Gpu Count */
            gpu_count: number;
            /** Machines */
            machines: number;
            /** Hours */
            hours: number;
            /** Price Per Gpu Hour */
            price_per_gpu_hour: number;
            /** Hold Usd */
            hold_usd: number;
            /** Eta P50 */
            eta_p50: number | null;
            /** Eta P90 */
            eta_p90: number | null;
            /** Start Time */
            start_time: string | null;
            /** Borrowed Gpus */
            borrowed_gpus: number;
        };
        /**
         * ReservationRequest
         * @example {
         *       "gpu_count": 1,
         *       "gpu_type": "MI300X",
         *       "hours": 0.5,
         *       "keys": [
         *         {
         *           "public_key": "ssh-ed25519 AAAA… ada"
         *         }
         *       ]
         *     }
         */
        ReservationRequest: {
            /**
             * Gpu Type
             * @default
             */
            gpu_type?: string;
            /**
             * Gpu Count
             * @default 1
             */
            gpu_count?: number;
            /**
             * Distributed
             * @default false
             */
            distributed?: boolean;
            /**
             * Allow Slow Links
             * @default false
             */
            allow_slow_links?: boolean;
            /** Hours */
            hours: number;
            /** Start Time */
            start_time?: string | null;
            /**
             * Queue
             * @default
             */
            queue?: string;
            /**
             * Priority
             * @default 0
             */
            priority?: number;
            /**
             * Fallback Gpu Types
             * @default []
             */
            fallback_gpu_types?: string[];
            /**
             * Disk
             * @default
             */
            disk?: string;
            /**
             * Image
             * @default
             */
            image?: string;
            /**
             * Build Digest
             * @default
             */
            build_digest?: string;
            /**
             * Preserve Entrypoint
             * @default false
             */
            preserve_entrypoint?: boolean;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Keys
             * @default []
             */
            keys?: components["schemas"]["Key"][];
            /** Own Keys */
            own_keys?: boolean | null;
            /**
             * Add Users
             * @default []
             */
            add_users?: components["schemas"]["AddedUser"][];
        };
        /** ReservationUsage */
        ReservationUsage: {
            /** Usage */
            usage: components["schemas"]["UsageOfDay"][];
        };
        /** ResourceDocument */
        ResourceDocument: {
            /** Quota */
            quota?: number | null;
            /** Overquotaweight */
            overQuotaWeight?: number | null;
            /** Limit */
            limit?: number | null;
            /** Lendinglimit */
            lendingLimit?: number | null;
            /** Borrowinglimit */
            borrowingLimit?: number | null;
        };
        /** Resources */
        Resources: {
            /** Gpus */
            gpus?: (number | null) | components["schemas"]["GpuRange"];
            /** Fraction */
            fraction?: number | null;
            /** Memory Mib */
            memory_mib?: number | null;
            /** Devices */
            devices?: number | null;
            /**
             * Single Device
             * @default false
             */
            single_device?: boolean;
            isolation?: components["schemas"]["Isolation"] | null;
            /**
             * Quiet
             * @default false
             */
            quiet?: boolean;
        };
        /** ResumedRenting */
        ResumedRenting: {
            /** Resumed Sources */
            resumed_sources: components["schemas"]["StoppedSource"][];
        };
        /**
         * Reuse
         * @enum {string}
         */
        Reuse: "reuse" | "reuse-or-create" | "create";
        /** RevocationRequest */
        RevocationRequest: {
            /** Account Id */
            account_id: string;
            /** Amount Usd */
            amount_usd: number | string;
            /**
             * Description
             * @default
             */
            description?: string;
        };
        /**
         * RoleName
         * @enum {string}
         */
        RoleName: "user" | "operator" | "admin" | "service";
        /** SandboxRequest */
        SandboxRequest: {
            /**
             * Gputype
             * @default
             */
            gpuType?: string;
            /**
             * Queue
             * @default
             */
            queue?: string;
            /** Time Limit Seconds */
            time_limit_seconds?: number | null;
            /** Deadline */
            deadline?: string | null;
            machine?: components["schemas"]["MachineUse"] | null;
            /**
             * Class
             * @default
             */
            class?: string;
            /**
             * Placement
             * @default
             */
            placement?: string;
            /**
             * Movable
             * @default false
             */
            movable?: boolean;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Fallbackgputypes
             * @default []
             */
            fallbackGpuTypes?: string[];
            resources?: components["schemas"]["Resources"] | null;
            /**
             * Annotations
             * @default {}
             */
            annotations?: {
                [key: string]: string;
            };
            /**
             * Language
             * @default hip
             */
            language?: string;
            /** Code */
            code: string;
        };
        /** Scenario */
        Scenario: {
            /** Tasks Per Day */
            tasks_per_day: number;
            /** Cases */
            cases: components["schemas"]["ScenarioCase"][];
        };
        /** ScenarioCase */
        ScenarioCase: {
            /** Reuse */
            reuse: string;
            /** Warm Share */
            warm_share: number;
            /** Idle Seconds Per Task */
            idle_seconds_per_task: number;
            /** Billed Seconds Per Task */
            billed_seconds_per_task: number;
            /** Task Usd */
            task_usd: number;
            /** Month Usd */
            month_usd: number;
            /** Grant Months */
            grant_months: number | null;
        };
        /** SchedulerPlugin */
        SchedulerPlugin: {
            /** Kind */
            kind: string;
            /** Name */
            name: string;
            /** Distribution */
            distribution: string | null;
            /** Failures */
            failures: number;
            /** Last Failure */
            last_failure: string | null;
            /** Queues */
            queues: string[];
        };
        /** SignInOptions */
        SignInOptions: {
            /** Enabled */
            enabled: boolean;
            /** Issuer */
            issuer: string;
            /** Client Id */
            client_id: string;
            /** Scopes */
            scopes: string[];
            /** Authorization Endpoint */
            authorization_endpoint: string;
            /** Device Authorization Endpoint */
            device_authorization_endpoint: string;
            /** Token Endpoint */
            token_endpoint: string;
        };
        /**
         * SignInRequest
         * @example {
         *       "id_token": "eyJhbGciOi…"
         *     }
         * @example {
         *       "code": "…",
         *       "code_verifier": "…",
         *       "nonce": "…",
         *       "redirect_uri": "https://wavepool.example/"
         *     }
         */
        SignInRequest: {
            /**
             * Id Token
             * @default
             */
            id_token?: string;
            /**
             * Link
             * @default
             */
            link?: string;
            /**
             * Code
             * @default
             */
            code?: string;
            /**
             * Code Verifier
             * @default
             */
            code_verifier?: string;
            /**
             * Redirect Uri
             * @default
             */
            redirect_uri?: string;
            /**
             * Nonce
             * @default
             */
            nonce?: string;
        };
        /** SignedClaim */
        SignedClaim: {
            /** Github Name */
            github_name: string;
            /** Challenge */
            challenge: string;
            /** Signature */
            signature: string;
        };
        /** SignedIn */
        SignedIn: {
            /** Id */
            id: string;
            /** Token */
            token: string;
            /** Expire Time */
            expire_time: string | null;
        };
        /** SizeWait */
        SizeWait: {
            /** Gpu Count */
            gpu_count: number;
            /** Eta P50 */
            eta_p50: number | null;
            /** Eta P90 */
            eta_p90: number | null;
        };
        /**
         * SpotChoice
         * @enum {string}
         */
        SpotChoice: "on-demand" | "spot" | "auto";
        /** Spread */
        Spread: {
            /** P50 Seconds */
            p50_seconds: number;
            /** P90 Seconds */
            p90_seconds: number;
        };
        /**
         * State
         * @enum {string}
         */
        State: "pending" | "queued" | "preparing" | "active" | "expiring" | "expired" | "cancelled" | "failed";
        /** Statement */
        Statement: {
            /** Account Id */
            account_id: string;
            /** Account Name */
            account_name: string;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Opening Usd */
            opening_usd: number;
            /** Closing Usd */
            closing_usd: number;
            /** Held Usd */
            held_usd: number;
            /** Lines */
            lines: components["schemas"]["StatementLine"][];
            /** By Day */
            by_day: components["schemas"]["Usage"][];
            /** By Problem */
            by_problem: components["schemas"]["Usage"][];
            /** By Gpu Type */
            by_gpu_type: components["schemas"]["Usage"][];
            /** By User */
            by_user: components["schemas"]["Usage"][];
            /** Truncated */
            truncated: boolean;
        };
        /** StatementLine */
        StatementLine: {
            /** Start Time */
            start_time: string | null;
            /** Time */
            time: string | null;
            /** Kind */
            kind: string;
            /** Amount Usd */
            amount_usd: number;
            /** Description */
            description: string;
            /** Reason */
            reason: string;
            /** Subject */
            subject: string;
            /** User Id */
            user_id: string;
            /** Problem */
            problem: string;
            /** Gpu Type */
            gpu_type: string;
            /** Hold Id */
            hold_id: string;
        };
        /** Step */
        Step: {
            /** Name */
            name: string;
            /** Seconds */
            seconds: number;
        };
        /** StoppedSource */
        StoppedSource: {
            /** Provider */
            provider: string;
            /** Backend */
            backend: string;
            /** Gpu Type */
            gpu_type: string;
            /** Message */
            message: string;
        };
        /** Submission */
        Submission: {
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            /** Problem */
            problem: string;
            /** Mode */
            mode: string;
            /** Timing */
            timing: string | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** Priority */
            priority: number;
            /** Queue */
            queue: string;
            /** Time Limit Seconds */
            time_limit_seconds: number | null;
            resources: components["schemas"]["AdmittedResources"];
            /** Class */
            class: string | null;
            /** Placement */
            placement: string | null;
            /** Movable */
            movable: boolean;
            machine: components["schemas"]["AdmittedMachineUse"];
            /** Deadline */
            deadline: string | null;
            /** State */
            state: string;
            /** Status */
            status: string | null;
            /** Verdict */
            verdict: string | null;
            /** Timing Status */
            timing_status: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
        };
        /** SubmissionDetail */
        SubmissionDetail: {
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            /** Problem */
            problem: string;
            /** Mode */
            mode: string;
            /** Timing */
            timing: string | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** Priority */
            priority: number;
            /** Queue */
            queue: string;
            /** Time Limit Seconds */
            time_limit_seconds: number | null;
            resources: components["schemas"]["AdmittedResources"];
            /** Class */
            class: string | null;
            /** Placement */
            placement: string | null;
            /** Movable */
            movable: boolean;
            machine: components["schemas"]["AdmittedMachineUse"];
            /** Deadline */
            deadline: string | null;
            /** State */
            state: string;
            /** Status */
            status: string | null;
            /** Verdict */
            verdict: string | null;
            /** Timing Status */
            timing_status: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /** Code */
            code: string;
            /** Launch Plan */
            launch_plan: {
                [key: string]: unknown;
            } | null;
            /** Problem Def */
            problem_def: string;
            /** Result */
            result: {
                [key: string]: unknown;
            } | null;
            /** Request */
            request: {
                [key: string]: unknown;
            };
        };
        /** SubmissionIsa */
        SubmissionIsa: {
            /** Id */
            id: string;
            /** Isa */
            isa: {
                [key: string]: unknown;
            };
            /** Isa Toolchain */
            isa_toolchain: string | null;
            /** Isa Note */
            isa_note: string | null;
            /** Listing */
            listing: string;
        };
        /** SubmissionPage */
        SubmissionPage: {
            /** Submissions */
            submissions: components["schemas"]["Submission"][];
            /** Next Page Token */
            next_page_token: string;
        };
        /** SubmissionQuote */
        SubmissionQuote: {
            /** Gpu Type */
            gpu_type: string;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
            resources: components["schemas"]["AdmittedResources"];
            /** Queue */
            queue: string;
            /** Time Limit Seconds */
            time_limit_seconds: number | null;
            /** Hold Usd */
            hold_usd: number;
            /** Position */
            position: number;
            /** Eta P50 */
            eta_p50: number | null;
            /** Eta P90 */
            eta_p90: number | null;
            /** Estimate Basis */
            estimate_basis: string;
            /** Remaining Submissions */
            remaining_submissions: number;
        };
        /**
         * SubmissionRequest
         * @example {
         *       "code": "#include <hip/hip_runtime.h>\n\n__global__ void add(const float* a, const float* b, float* c, size_t n) {\n    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + b[i];\n}\n\nextern \"C\" void solution(const float* a, const float* b, float* c, size_t n) {\n    add<<<(n + 255) / 256, 256>>>(a, b, c, n);\n}\n",
         *       "mode": "full",
         *       "problem": "vector-addition"
         *     }
         */
        SubmissionRequest: {
            /**
             * Gpu Type
             * @default
             */
            gpu_type?: string;
            /**
             * Queue
             * @default
             */
            queue?: string;
            /** Time Limit Seconds */
            time_limit_seconds?: number | null;
            /** Deadline */
            deadline?: string | null;
            machine?: components["schemas"]["MachineUse"] | null;
            /**
             * Class
             * @default
             */
            class?: string;
            /**
             * Placement
             * @default
             */
            placement?: string;
            /**
             * Movable
             * @default false
             */
            movable?: boolean;
            /**
             * Name
             * @default
             */
            name?: string;
            /**
             * Fallback Gpu Types
             * @default []
             */
            fallback_gpu_types?: string[];
            resources?: components["schemas"]["Resources"] | null;
            /**
             * Annotations
             * @default {}
             */
            annotations?: {
                [key: string]: string;
            };
            /**
             * Language
             * @default hip
             */
            language?: string;
            /**
             * Problem Def
             * @default
             */
            problem_def?: string;
            /** Launch Plan */
            launch_plan?: {
                [key: string]: unknown;
            } | null;
            timing?: components["schemas"]["TimingMode"] | null;
            /**
             * Profile
             * @default false
             */
            profile?: boolean;
            /**
             * Dtype
             * @default float32
             */
            dtype?: string;
            /** @default full */
            mode?: components["schemas"]["Mode"];
            /**
             * Problem
             * @default
             */
            problem?: string;
            /** Code */
            code: string;
            /**
             * Priority
             * @default 0
             */
            priority?: number;
        };
        /** TakenSnapshot */
        TakenSnapshot: {
            /** Id */
            id: string;
            /** Time */
            time: string | null;
            /** Size Bytes */
            size_bytes: number;
            /** Files */
            files: number;
            /** Reason */
            reason: string;
            /** Seconds */
            seconds: number;
            /** Is Unchanged */
            is_unchanged: boolean;
            /** Skipped */
            skipped: number;
        };
        /** TaskCosts */
        TaskCosts: {
            /** Tasks */
            tasks: number;
            /** Cold Tasks */
            cold_tasks: number;
            /** Spent Usd */
            spent_usd: number;
            /** Mean Usd */
            mean_usd: number;
            /** Cold Usd */
            cold_usd: number | null;
            /** Warm Usd */
            warm_usd: number | null;
        };
        /** Team */
        Team: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Account Id */
            account_id: string;
            /** Create Time */
            create_time: string | null;
            /** Members */
            members: components["schemas"]["Member"][];
        };
        /** TeamList */
        TeamList: {
            /** Teams */
            teams: components["schemas"]["TeamSummary"][];
        };
        /**
         * TeamRequest
         * @example {
         *       "grant_usd": 50,
         *       "name": "compilers"
         *     }
         */
        TeamRequest: {
            /** Name */
            name: string;
            /**
             * Grant Usd
             * @default 0
             */
            grant_usd?: number;
        };
        /** TeamSummary */
        TeamSummary: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Account Id */
            account_id: string;
            /** Create Time */
            create_time: string | null;
        };
        /** TestDelivery */
        TestDelivery: {
            /** Channel */
            channel: string;
            /** Delivered */
            delivered: boolean;
            /** Failure */
            failure: string;
        };
        /**
         * TimingMode
         * @enum {string}
         */
        TimingMode: "cold" | "hot" | "first-call";
        /** Token */
        Token: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Prefix */
            prefix: string;
            /** User Id */
            user_id: string;
            /** User Name */
            user_name: string;
            /** Account Id */
            account_id: string;
            /** Account Name */
            account_name: string;
            /** Scopes */
            scopes: string[];
            /** Create Time */
            create_time: string | null;
            /** Expire Time */
            expire_time: string | null;
            /** Revoke Time */
            revoke_time: string | null;
        };
        /** TokenList */
        TokenList: {
            /** Tokens */
            tokens: components["schemas"]["Token"][];
        };
        /**
         * TokenRequest
         * @example {
         *       "name": "laptop"
         *     }
         * @example {
         *       "name": "ci",
         *       "scopes": [
         *         "read",
         *         "submit"
         *       ]
         *     }
         */
        TokenRequest: {
            /** Name */
            name: string;
            /**
             * Account Id
             * @default
             */
            account_id?: string;
            /**
             * User Id
             * @default
             */
            user_id?: string;
            /**
             * Scopes
             * @default []
             */
            scopes?: string[];
            /** Expire Time */
            expire_time?: string | null;
            /** Lifetime Seconds */
            lifetime_seconds?: number | null;
            /**
             * Link
             * @default false
             */
            link?: boolean;
        };
        /** Usage */
        Usage: {
            /** Name */
            name: string;
            /** Label */
            label: string;
            /** Charged Usd */
            charged_usd: number;
            /** Works */
            works: number;
        };
        /** UsageOfDay */
        UsageOfDay: {
            /**
             * Day
             * Format: date
             */
            day: string;
            /** Account Id */
            account_id: string;
            /** User Id */
            user_id: string;
            /** User */
            user: string;
            /** Gpu Type */
            gpu_type: string;
            /** Gpu Hours */
            gpu_hours: number;
            /** Reservations */
            reservations: number;
        };
        /** User */
        User: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Email */
            email: string;
            /** Role */
            role: string;
            /** Account Id */
            account_id: string;
            /** Create Time */
            create_time: string | null;
            /** Disable Time */
            disable_time: string | null;
            /** Issuer */
            issuer: string;
            /** Github Name */
            github_name: string;
        };
        /**
         * UserChange
         * @example {
         *       "role": "operator"
         *     }
         */
        UserChange: {
            role?: components["schemas"]["RoleName"] | null;
            /** Email */
            email?: string | null;
            /** Github Name */
            github_name?: string | null;
            /** Disabled */
            disabled?: boolean | null;
        };
        /** UserList */
        UserList: {
            /** Users */
            users: components["schemas"]["User"][];
        };
        /**
         * UserRequest
         * @example {
         *       "grant_usd": 5,
         *       "name": "ada"
         *     }
         */
        UserRequest: {
            /** Name */
            name: string;
            /**
             * Email
             * @default
             */
            email?: string;
            /** @default user */
            role?: components["schemas"]["RoleName"];
            /**
             * Grant Usd
             * @default 0
             */
            grant_usd?: number;
        };
        /**
         * UsersRequest
         * @example {
         *       "remove": [
         *         "bob"
         *       ]
         *     }
         */
        UsersRequest: {
            /**
             * Add
             * @default []
             */
            add?: components["schemas"]["AddedUser"][];
            /**
             * Remove
             * @default []
             */
            remove?: string[];
            /**
             * Add Editors
             * @default []
             */
            add_editors?: string[];
        };
        /** VmPoolEntry */
        VmPoolEntry: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Gpu Type */
            gpu_type: string;
            /** Device */
            device: string;
            /** Device Title */
            device_title: string;
            /** Jobs Run */
            jobs_run: number;
            /** Cost Usd */
            cost_usd: number;
        };
        /** UserKey */
        gateway__reservations__schemas__UserKey: {
            /** User */
            user: string;
            /** Type */
            type: string;
            /** Fingerprint */
            fingerprint: string;
        };
        /** UserKey */
        gateway__routes__keys__UserKey: {
            /** Id */
            id: string;
            /** User Id */
            user_id: string;
            /** Name */
            name: string;
            /** Type */
            type: string;
            /** Fingerprint */
            fingerprint: string;
            /** Create Time */
            create_time: string | null;
        };
        /** FieldProblem */
        FieldProblem: {
            /** Field */
            field: string;
            /** Message */
            message: string;
        };
        /** ProblemDocument */
        ProblemDocument: {
            /**
             * Type
             * @default about:blank
             */
            type?: string;
            /** Title */
            title: string;
            /** Status */
            status: number;
            /** Detail */
            detail: string;
            /** Instance */
            instance: string;
            /** Request Id */
            request_id: string;
            /** Errors */
            errors: components["schemas"]["FieldProblem"][];
            /**
             * Code
             * @default
             */
            code?: string;
        };
        /** SeedProblem */
        SeedProblem: {
            /** Error */
            error: string;
            /**
             * Details
             * @default null
             */
            details?: string | null;
            /**
             * Errors
             * @default []
             */
            errors?: components["schemas"]["FieldProblem"][];
            /**
             * Missing
             * @default []
             */
            missing?: string[];
            /**
             * Status
             * @default
             */
            status?: string;
            /**
             * Retry After
             * @default null
             */
            retry_after?: number | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_submissions_api_v1_submissions_get: {
        parameters: {
            query?: {
                page_size?: number;
                page_token?: string;
                problem?: string;
                account_id?: string;
                user_id?: string;
                state?: ("QUEUED" | "PROVISIONING" | "RUNNING" | "SETTLING" | "FINISHED" | "CANCELLED" | "FAILED")[];
                verdict?: ("ACCEPTED" | "COMPILE_ERROR" | "COMPILE_LIMIT" | "FORBIDDEN_SOURCE" | "FORBIDDEN_LIBRARY" | "LAUNCH_ERROR" | "RUNTIME_ERROR" | "WRONG_ANSWER" | "PRECISION" | "INPUT_MODIFIED" | "OUT_OF_BOUNDS" | "NONDETERMINISTIC" | "TIME_LIMIT_EXCEEDED" | "MEMORY_LIMIT_EXCEEDED" | "OUTPUT_LIMIT_EXCEEDED" | "TIMING_INVALID" | "UNSTABLE" | "CANCELLED" | "INFRA_ERROR" | "PROBLEM_ERROR")[];
                mode?: components["schemas"]["Mode"][];
                queue?: string;
                since?: (string | unknown | unknown) | null;
                until?: (string | unknown | unknown) | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmissionPage"];
                };
            };
        };
    };
    submit_api_v1_submissions_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewSubmission"];
                };
            };
        };
    };
    quote_api_v1_submissions_quote_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmissionQuote"];
                };
            };
        };
    };
    get_submission_api_v1_submissions__submission_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmissionDetail"];
                };
            };
        };
    };
    follow_submission_api_v1_submissions__submission_id__events_get: {
        parameters: {
            query?: {
                after?: string | null;
            };
            header?: {
                "last-event-id"?: string | null;
            };
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_isa_api_v1_submissions__submission_id__isa_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmissionIsa"];
                };
            };
        };
    };
    get_report_api_v1_submissions__submission_id__report_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    cancel_submission_api_v1_submissions__submission_id__cancel_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submission"];
                };
            };
        };
    };
    list_problems_api_v1_problems_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemList"];
                };
            };
        };
    };
    get_problem_api_v1_problems__slug__get: {
        parameters: {
            query?: {
                dtype?: string;
            };
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemDetail"];
                };
            };
        };
    };
    list_gpu_types_api_v1_gpu_types_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GpuTypes"];
                };
            };
        };
    };
    list_machines_api_v1_machines_get: {
        parameters: {
            query?: {
                include_ended?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MachineList"];
                };
            };
        };
    };
    request_machine_api_v1_machines_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MachineOrder"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderedMachine"];
                };
            };
        };
    };
    get_machine_api_v1_machines__machine_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                machine_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Machine"];
                };
            };
        };
    };
    follow_machine_api_v1_machines__machine_id__events_get: {
        parameters: {
            query?: {
                after?: string | null;
            };
            header?: {
                "last-event-id"?: string | null;
            };
            path: {
                machine_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    drain_machine_api_v1_machines__machine_id__drain_post: {
        parameters: {
            query?: {
                reason?: string;
                force?: boolean;
            };
            header?: never;
            path: {
                machine_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Machine"];
                };
            };
        };
    };
    stop_machine_api_v1_machines__machine_id__stop_post: {
        parameters: {
            query?: {
                reason?: string;
                force?: boolean;
            };
            header?: never;
            path: {
                machine_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Machine"];
                };
            };
        };
    };
    get_machine_logs_api_v1_machines__machine_id__logs_get: {
        parameters: {
            query?: {
                follow?: boolean;
                tail?: number;
            };
            header?: never;
            path: {
                machine_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
        };
    };
    list_offers_api_v1_offers_get: {
        parameters: {
            query?: {
                gpu_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferList"];
                };
            };
        };
    };
    diagnose_providers_api_v1_providers_diagnosis_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderDiagnosis"];
                };
            };
        };
    };
    resume_renting_api_v1_providers_resume_post: {
        parameters: {
            query?: {
                gpu_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResumedRenting"];
                };
            };
        };
    };
    get_me_api_v1_me_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
        };
    };
    get_notices_api_v1_me_notices_get: {
        parameters: {
            query?: {
                user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notices"];
                };
            };
        };
    };
    set_notices_api_v1_me_notices_patch: {
        parameters: {
            query?: {
                user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoticesChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notices"];
                };
            };
        };
    };
    get_limits_api_v1_limits_get: {
        parameters: {
            query?: {
                account_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limits"];
                };
            };
        };
    };
    get_costs_api_v1_costs_get: {
        parameters: {
            query?: {
                page_size?: number;
                page_token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Costs"];
                };
            };
        };
    };
    get_report_api_v1_billing_report_get: {
        parameters: {
            query?: {
                from?: (string | unknown | unknown) | null;
                to?: (string | unknown | unknown) | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CostReport"];
                };
            };
        };
    };
    verify_ledger_api_v1_billing_verify_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerProof"];
                };
            };
        };
    };
    get_statement_api_v1_billing_statement_get: {
        parameters: {
            query?: {
                from?: (string | unknown | unknown) | null;
                to?: (string | unknown | unknown) | null;
                account_id?: string;
                user_id?: string;
                format?: "json" | "csv" | "html";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statement"];
                    "text/csv": unknown;
                    "text/html": unknown;
                };
            };
        };
    };
    list_grants_api_v1_billing_grants_get: {
        parameters: {
            query?: {
                account_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantList"];
                };
            };
        };
    };
    grant_credit_api_v1_billing_grants_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GrantRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
        };
    };
    revoke_credit_api_v1_billing_revocations_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevocationRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
        };
    };
    refund_charge_api_v1_billing_refunds_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefundRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credit"];
                };
            };
        };
    };
    list_budgets_api_v1_billing_budgets_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetList"];
                };
            };
        };
    };
    set_budget_api_v1_billing_budgets_put: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewBudget"];
                };
            };
        };
    };
    remove_budget_api_v1_billing_budgets__budget_id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_prices_api_v1_prices_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceList"];
                };
            };
        };
    };
    set_price_api_v1_prices_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPrice"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PricePeriod"];
                };
            };
        };
    };
    list_price_periods_api_v1_prices_history_get: {
        parameters: {
            query?: {
                gpu_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceHistory"];
                };
            };
        };
    };
    get_quote_api_v1_quote_get: {
        parameters: {
            query?: {
                gpu_type?: string[] | null;
                eighths?: number;
                gpus?: number;
                spot?: boolean;
                duration_seconds?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Quote"];
                };
            };
        };
    };
    get_projections_api_v1_billing_projections_get: {
        parameters: {
            query?: {
                operator?: boolean;
                gpu_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Projections"];
                };
            };
        };
    };
    list_rankings_api_v1_rankings_get: {
        parameters: {
            query: {
                problem: string;
                gpu_type?: string;
                dtype?: string;
                timing?: components["schemas"]["TimingMode"] | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ranking"];
                };
            };
        };
    };
    compare_api_v1_comparisons_get: {
        parameters: {
            query: {
                base: string;
                other: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comparison"];
                };
            };
        };
    };
    list_queues_api_v1_queues_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueList"];
                };
            };
        };
    };
    apply_queues_api_v1_queues_apply_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
        };
    };
    close_queue_api_v1_queues__name__close_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
        };
    };
    open_queue_api_v1_queues__name__open_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
        };
    };
    begin_maintenance_api_v1_gpu_types__gpu_type__maintenance_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                gpu_type: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MaintenanceRequest"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    end_maintenance_api_v1_gpu_types__gpu_type__maintenance_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                gpu_type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    remove_queue_api_v1_queues__name__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
        };
    };
    explain_api_v1_submissions__submission_id__why_get: {
        parameters: {
            query?: {
                machines?: number;
            };
            header?: never;
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
        };
    };
    upload_build_context_api_v1_build_contexts_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BuildContextRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BuildContext"];
                };
            };
        };
    };
    list_reservations_api_v1_reservations_get: {
        parameters: {
            query?: {
                state?: components["schemas"]["State"][] | null;
                user_id?: string;
                page_size?: number;
                page_token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReservationPage"];
                };
            };
        };
    };
    reserve_api_v1_reservations_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReservationRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedReservation"];
                };
            };
        };
    };
    quote_api_v1_reservations_quote_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuoteRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReservationQuote"];
                };
            };
        };
    };
    get_usage_api_v1_reservations_usage_get: {
        parameters: {
            query?: {
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReservationUsage"];
                };
            };
        };
    };
    get_calendar_api_v1_reservations_calendar_get: {
        parameters: {
            query?: {
                gpu_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReservationCalendar"];
                };
            };
        };
    };
    get_reservation_api_v1_reservations__reservation_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    rename_api_v1_reservations__reservation_id__patch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReservationChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    follow_reservation_api_v1_reservations__reservation_id__events_get: {
        parameters: {
            query?: {
                after?: string | null;
            };
            header?: {
                "last-event-id"?: string | null;
            };
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    cancel_reservation_api_v1_reservations__reservation_id__cancel_post: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: never;
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    extend_api_v1_reservations__reservation_id__extend_post: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtensionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reservation"];
                };
            };
        };
    };
    change_users_api_v1_reservations__reservation_id__users_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UsersRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedReservation"];
                };
            };
        };
    };
    notify_api_v1_reservations__reservation_id__notify_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NotifyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notified"];
                };
            };
        };
    };
    describe_tunnel_api_v1_reservations__reservation_id__tunnel_get: {
        parameters: {
            query?: {
                node?: number;
            };
            header?: never;
            path: {
                reservation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_availability_api_v1_availability_get: {
        parameters: {
            query?: {
                gpu_type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Availability"];
                };
            };
        };
    };
    list_disks_api_v1_disks_get: {
        parameters: {
            query?: {
                user_id?: string;
                deleted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiskList"];
                };
            };
        };
    };
    create_api_v1_disks_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DiskRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Disk"];
                };
            };
        };
    };
    delete_api_v1_disks__name__delete: {
        parameters: {
            query?: {
                user_id?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Disk"];
                };
            };
        };
    };
    rename_api_v1_disks__name__patch: {
        parameters: {
            query?: {
                user_id?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewName"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Disk"];
                };
            };
        };
    };
    clone_api_v1_disks__name__clone_post: {
        parameters: {
            query?: {
                user_id?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewName"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Disk"];
                };
            };
        };
    };
    get_content_api_v1_disks__name__content_get: {
        parameters: {
            query?: {
                user_id?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiskContent"];
                };
            };
        };
    };
    take_snapshot_api_v1_disks__name__snapshot_post: {
        parameters: {
            query?: {
                user_id?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TakenSnapshot"];
                };
            };
        };
    };
    list_tokens_api_v1_tokens_get: {
        parameters: {
            query?: {
                account_id?: string;
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
        };
    };
    create_token_api_v1_tokens_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    revoke_token_api_v1_tokens__token_id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_keys_api_v1_keys_get: {
        parameters: {
            query?: {
                user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
        };
    };
    add_key_api_v1_keys_post: {
        parameters: {
            query?: {
                user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["gateway__routes__keys__UserKey"];
                };
            };
        };
    };
    finish_claim_api_v1_keys_claims_put: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignedClaim"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimedName"];
                };
            };
        };
    };
    begin_claim_api_v1_keys_claims_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Claim"];
                };
            };
        };
    };
    remove_key_api_v1_keys__key__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_accounts_api_v1_accounts_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountList"];
                };
            };
        };
    };
    create_account_api_v1_accounts_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    get_account_api_v1_accounts__account__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    list_users_api_v1_users_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
        };
    };
    create_user_api_v1_users_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    get_user_api_v1_users__user__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    update_user_api_v1_users__user__patch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    list_teams_api_v1_teams_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamList"];
                };
            };
        };
    };
    create_team_api_v1_teams_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeamRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    get_team_api_v1_teams__team__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                team: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    add_member_api_v1_teams__team__members__user__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                team: string;
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    remove_member_api_v1_teams__team__members__user__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                team: string;
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    get_sign_in_options_api_v1_sign_in_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
        };
    };
    sign_in_api_v1_sign_in_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
        };
    };
    list_alerts_api_v1_alerts_get: {
        parameters: {
            query?: {
                account_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertList"];
                };
            };
        };
    };
    list_alert_history_api_v1_alerts_history_get: {
        parameters: {
            query?: {
                account_id?: string;
                page_size?: number;
                page_token?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertHistory"];
                };
            };
        };
    };
    list_alert_rules_api_v1_alerts_rules_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRules"];
                };
            };
        };
    };
    send_test_alert_api_v1_alerts_test_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertTest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertTestResult"];
                };
            };
        };
    };
    get_job_metrics_api_v1_metrics_jobs_get: {
        parameters: {
            query?: {
                group_by?: components["schemas"]["Grouping"];
                since?: (string | unknown | unknown) | null;
                until?: (string | unknown | unknown) | null;
                account_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobMetrics"];
                };
            };
        };
    };
    get_queue_metrics_api_v1_metrics_queues_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueMetrics"];
                };
            };
        };
    };
    get_metrics_api_v1_metrics_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrchestratorMetrics"];
                };
            };
        };
    };
    get_metrics_api_amd_metrics_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrchestratorMetrics"];
                };
            };
        };
    };
    submit_api_amd_submit_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AmdSubmitRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
    direct_submit_api_submissions_direct_submit_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DirectSubmitRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
    check_api_submissions_checker_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DirectSubmitRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
    benchmark_api_submissions_benchmark_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DirectSubmitRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
    run_sample_api_submissions_sample_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DirectSubmitRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
    run_sandbox_api_submissions_sandbox_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SandboxRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
    cancel_api_submissions_cancel_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelAnswer"];
                };
            };
        };
    };
    get_health_healthz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: string;
                    };
                };
            };
        };
    };
    get_readiness_readyz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
}
