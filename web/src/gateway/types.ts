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
        get: operations["list_submissions"];
        put?: never;
        /** Create Submission */
        post: operations["create_submission"];
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
        /** Quote Submission */
        post: operations["quote_submission"];
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
        get: operations["get_submission"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update Submission */
        patch: operations["update_submission"];
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream Submission Events */
        get: operations["stream_submission_events"];
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
        /** Get Submission Isa */
        get: operations["get_submission_isa"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submissions/{submission_id}/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Submission Samples */
        get: operations["get_submission_samples"];
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
        /** Get Submission Report */
        get: operations["get_submission_report"];
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
        post: operations["cancel_submission"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow Topics */
        get: operations["follow_topics"];
        put?: never;
        post?: never;
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
        get: operations["list_problems"];
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
        get: operations["get_problem"];
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
        get: operations["list_gpu_types"];
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
        get: operations["list_machines"];
        put?: never;
        /** Request Machine */
        post: operations["request_machine"];
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
        get: operations["get_machine"];
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
        /** Stream Machine Events */
        get: operations["stream_machine_events"];
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
        post: operations["drain_machine"];
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
        post: operations["stop_machine"];
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
        get: operations["get_machine_logs"];
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
        get: operations["list_offers"];
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
        get: operations["diagnose_providers"];
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
        post: operations["resume_renting"];
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
        get: operations["get_me"];
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
        get: operations["get_notices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Set Notices */
        patch: operations["set_notices"];
        trace?: never;
    };
    "/api/v1/me/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Profile Setting */
        get: operations["get_profile_setting"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Set Profile Setting */
        patch: operations["set_profile_setting"];
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
        get: operations["get_limits"];
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
        get: operations["get_costs"];
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
        /** Get Cost Report */
        get: operations["get_cost_report"];
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
        get: operations["verify_ledger"];
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
        get: operations["get_statement"];
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
        get: operations["list_grants"];
        put?: never;
        /** Grant Credit */
        post: operations["grant_credit"];
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
        post: operations["revoke_credit"];
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
        post: operations["refund_charge"];
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
        get: operations["list_budgets"];
        /** Set Budget */
        put: operations["set_budget"];
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
        delete: operations["remove_budget"];
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
        get: operations["list_prices"];
        put?: never;
        /** Set Price */
        post: operations["set_price"];
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
        get: operations["list_price_periods"];
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
        get: operations["get_quote"];
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
        get: operations["get_projections"];
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
        get: operations["list_rankings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rankings/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Records */
        get: operations["list_records"];
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
        /** Compare Submissions */
        get: operations["compare_submissions"];
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
        get: operations["list_queues"];
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
        post: operations["apply_queues"];
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
        post: operations["close_queue"];
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
        post: operations["open_queue"];
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
        put: operations["begin_maintenance"];
        post?: never;
        /** End Maintenance */
        delete: operations["end_maintenance"];
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
        delete: operations["remove_queue"];
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
        /** Explain Submission */
        get: operations["explain_submission"];
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
        post: operations["upload_build_context"];
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
        get: operations["list_reservations"];
        put?: never;
        /** Create Reservation */
        post: operations["create_reservation"];
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
        /** Quote Reservation */
        post: operations["quote_reservation"];
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
        /** Get Reservation Usage */
        get: operations["get_reservation_usage"];
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
        /** Get Reservation Calendar */
        get: operations["get_reservation_calendar"];
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
        get: operations["get_reservation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Rename Reservation */
        patch: operations["rename_reservation"];
        trace?: never;
    };
    "/api/v1/reservations/{reservation_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream Reservation Events */
        get: operations["stream_reservation_events"];
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
        post: operations["cancel_reservation"];
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
        /** Extend Reservation */
        post: operations["extend_reservation"];
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
        /** Change Reservation Users */
        post: operations["change_reservation_users"];
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
        /** Notify Reservation */
        post: operations["notify_reservation"];
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
        get: operations["describe_tunnel"];
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
        get: operations["get_availability"];
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
        get: operations["list_disks"];
        put?: never;
        /** Create Disk */
        post: operations["create_disk"];
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
        /** Delete Disk */
        delete: operations["delete_disk"];
        options?: never;
        head?: never;
        /** Rename Disk */
        patch: operations["rename_disk"];
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
        /** Clone Disk */
        post: operations["clone_disk"];
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
        /** Get Disk Content */
        get: operations["get_disk_content"];
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
        /** Take Disk Snapshot */
        post: operations["take_disk_snapshot"];
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
        get: operations["list_tokens"];
        put?: never;
        /** Create Token */
        post: operations["create_token"];
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
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create Ticket */
        post: operations["create_ticket"];
        delete?: never;
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
        get: operations["list_keys"];
        put?: never;
        /** Add Key */
        post: operations["add_key"];
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
        put: operations["finish_claim"];
        /** Begin Claim */
        post: operations["begin_claim"];
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
        delete: operations["remove_key"];
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
        get: operations["list_accounts"];
        put?: never;
        /** Create Account */
        post: operations["create_account"];
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
        get: operations["get_account"];
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
        get: operations["list_users"];
        put?: never;
        /** Create User */
        post: operations["create_user"];
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
        get: operations["get_user"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update User */
        patch: operations["update_user"];
        trace?: never;
    };
    "/api/v1/users/{user}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Profile */
        get: operations["get_profile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
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
        get: operations["list_teams"];
        put?: never;
        /** Create Team */
        post: operations["create_team"];
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
        get: operations["get_team"];
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
        put: operations["add_member"];
        post?: never;
        /** Remove Member */
        delete: operations["remove_member"];
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
        get: operations["get_sign_in_options"];
        put?: never;
        /** Sign In */
        post: operations["sign_in"];
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
        get: operations["list_alerts"];
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
        get: operations["list_alert_history"];
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
        get: operations["list_alert_rules"];
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
        post: operations["send_test_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Acts */
        get: operations["list_acts"];
        put?: never;
        post?: never;
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
        get: operations["get_job_metrics"];
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
        get: operations["get_queue_metrics"];
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
        get: operations["get_metrics"];
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
        get: operations["get_amd_metrics"];
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
        /** Amd Submit */
        post: operations["amd_submit"];
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
        post: operations["direct_submit"];
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
        /** Direct Check */
        post: operations["direct_check"];
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
        /** Direct Benchmark */
        post: operations["direct_benchmark"];
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
        /** Direct Sample */
        post: operations["direct_sample"];
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
        /** Direct Sandbox */
        post: operations["direct_sandbox"];
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
        /** Direct Cancel */
        post: operations["direct_cancel"];
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
        get: operations["get_health"];
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
        get: operations["get_readiness"];
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
            owner: components["schemas"]["AccountOwner"] | null;
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
         * AccountOwner
         * @enum {string}
         */
        AccountOwner: "user" | "team";
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
            owner: components["schemas"]["AccountOwner"] | null;
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
            what: components["schemas"]["ActName"];
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
        /** ActList */
        ActList: {
            /** Acts */
            acts: components["schemas"]["AuditedAct"][];
            /** Next Page Token */
            next_page_token: string;
        };
        /**
         * ActName
         * @enum {string}
         */
        ActName: "extended" | "users_changed" | "notified" | "ending";
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
            reuse: components["schemas"]["Reuse"];
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
            isolation: components["schemas"]["Isolation"];
        };
        /** Alert */
        Alert: {
            /** Id */
            id: string;
            /** Rule */
            rule: string;
            /** Severity */
            severity: components["schemas"]["AlertSeverity"];
            /** Phase */
            phase: components["schemas"]["AlertPhase"];
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
            least_severity: components["schemas"]["AlertSeverity"];
        };
        /**
         * AlertComparison
         * @enum {string}
         */
        AlertComparison: ">=" | ">" | "<=" | "<";
        /** AlertDelivery */
        AlertDelivery: {
            /** Channel */
            channel: string;
            /** Outcome */
            outcome: components["schemas"]["DeliveryOutcome"];
            /** Attempts */
            attempts: number;
            /** Time */
            time: string | null;
            /** Failure */
            failure: string;
        };
        /**
         * AlertEvent
         * @enum {string}
         */
        AlertEvent: "PENDING" | "CANCELLED" | "FIRED" | "RESOLVED" | "NO_DATA" | "DATA_BACK";
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
        /**
         * AlertPhase
         * @enum {string}
         */
        AlertPhase: "PENDING" | "FIRING";
        /** AlertRule */
        AlertRule: {
            /** Name */
            name: string;
            /** Severity */
            severity: components["schemas"]["AlertSeverity"];
            /** Reading */
            reading: string;
            /** Comparison */
            comparison: components["schemas"]["AlertComparison"];
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
         * AlertSeverity
         * @enum {string}
         */
        AlertSeverity: "INFO" | "WARNING" | "CRITICAL";
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
            severity: components["schemas"]["AlertSeverity"];
            /** Event */
            event: components["schemas"]["AlertEvent"];
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
        /** AuditedAct */
        AuditedAct: {
            /** Id */
            id: string;
            /**
             * Time
             * Format: date-time
             */
            time: string;
            /** Service */
            service: string;
            /** Kind */
            kind: string;
            /** User Id */
            user_id: string;
            /** User */
            user: string;
            /** Token Id */
            token_id: string;
            /** Address */
            address: string;
            /** Request */
            request: unknown;
            /** Before */
            before: unknown;
            /** After */
            after: unknown;
            /** Outcome */
            outcome: string;
            /** Message */
            message: string;
            /** Request Id */
            request_id: string;
        };
        /** Availability */
        Availability: {
            /** Gpu Types */
            gpu_types: components["schemas"]["GpuAvailability"][];
        };
        /**
         * Bound
         * @enum {string}
         */
        Bound: "MEMORY" | "COMPUTE" | "LAUNCH";
        /** Budget */
        Budget: {
            /** Id */
            id: string;
            /** Scope */
            scope: components["schemas"]["BudgetScope"];
            /** Subject */
            subject: string;
            /** Subject Name */
            subject_name: string;
            /** Period */
            period: components["schemas"]["BudgetPeriod"];
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
        /**
         * BudgetPeriod
         * @enum {string}
         */
        BudgetPeriod: "DAY" | "WEEK" | "MONTH" | "TOTAL";
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
        /**
         * BudgetScope
         * @enum {string}
         */
        BudgetScope: "ACCOUNT" | "USER" | "QUEUE";
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
            state: components["schemas"]["ReservationState"];
            /** Machine Id */
            machine_id: string | null;
            /** More Machine Ids */
            more_machine_ids: string[];
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
            state: components["schemas"]["JobState"];
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
            /** Verdict */
            verdict: components["schemas"]["ComparisonVerdict"];
        };
        /** CaseSamples */
        CaseSamples: {
            /** Test Id */
            test_id: number;
            /** Name */
            name: string;
            /** Sessions */
            sessions: components["schemas"]["SessionSamples"][];
            /** Instruments */
            instruments: components["schemas"]["InstrumentReading"][];
        };
        /** CaseTime */
        CaseTime: {
            timing: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Name */
            name: string;
            /** Test Id */
            test_id: number;
            /** Runtime Ms */
            runtime_ms: number;
            /** Gflops */
            gflops: number;
            /** Gbytes Per Second */
            gbytes_per_second: number;
            /** Percent Of Roof */
            percent_of_roof: number | null;
            /** Bound */
            bound: components["schemas"]["Bound"] | null;
            ci: components["schemas"]["ConfidenceInterval"];
            /** Samples */
            samples: number;
            /** Converged */
            converged: boolean;
            /** Stopped By */
            stopped_by: string;
            /** Min Ms */
            min_ms: number;
            /** P5 Ms */
            p5_ms: number;
            /** P25 Ms */
            p25_ms: number;
            /** P75 Ms */
            p75_ms: number;
            /** P95 Ms */
            p95_ms: number;
            /** P99 Ms */
            p99_ms: number;
            /** Max Ms */
            max_ms: number;
            /** Mad Ms */
            mad_ms: number;
            /** Bimodality */
            bimodality: number | null;
            /** Correlation Time */
            correlation_time: number;
            /** Session Medians Ms */
            session_medians_ms: number[];
            /** Disagreement */
            disagreement: number;
            /** Runs */
            runs: components["schemas"]["TimedRun"][];
            /** Audit Ratio */
            audit_ratio: number | null;
            /** Audited Calls */
            audited_calls: number;
            /** Null Ms */
            null_ms: number;
            /** Floor Ms */
            floor_ms: number | null;
            /** Hot Ms */
            hot_ms: number | null;
            /** First Call Ms */
            first_call_ms: number;
            /** Stream Span Ms */
            stream_span_ms: number | null;
            /** Device Span Ms */
            device_span_ms: number | null;
            /** Flush Bytes */
            flush_bytes: number;
            /** Arithmetic Intensity */
            arithmetic_intensity: number | null;
            /** Replaced Samples */
            replaced_samples: number;
            gpu_metrics: components["schemas"]["GpuMetrics"];
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
            state: components["schemas"]["ReservationState"];
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
            keys: components["schemas"]["LoginKey"][];
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
            verdict: components["schemas"]["ComparisonVerdict"];
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
        /**
         * ComparisonVerdict
         * @enum {string}
         */
        ComparisonVerdict: "FASTER" | "SLOWER" | "SAME" | "UNCLEAR";
        /** ConfidenceInterval */
        ConfidenceInterval: {
            /** Low Ms */
            low_ms: number;
            /** High Ms */
            high_ms: number;
            /** Confidence */
            confidence: number;
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
            policy: components["schemas"]["OverheadPolicy"];
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
        /** DebugInfo */
        DebugInfo: {
            /** Max Difference */
            max_difference?: number | null;
            /** Mean Difference */
            mean_difference?: number | null;
            /** Mismatch Count */
            mismatch_count?: number;
            /** Element Count */
            element_count?: number;
            /** Sample Differences */
            sample_differences?: {
                [key: string]: components["schemas"]["Difference"];
            };
            window?: components["schemas"]["ErrorWindow"] | null;
            map?: components["schemas"]["ErrorMap"] | null;
            /** Message */
            message?: string;
        };
        /**
         * DeliveryOutcome
         * @enum {string}
         */
        DeliveryOutcome: "WAITING" | "DELIVERED" | "FAILED";
        /** Difference */
        Difference: {
            /** Expected */
            expected: number | null;
            /** Actual */
            actual: number | null;
            /** Diff */
            diff: number | null;
            /** Output */
            output: string;
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
            state: components["schemas"]["DiskState"];
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
            reason: components["schemas"]["SnapshotReason"];
            /** Seconds */
            seconds: number;
        };
        /**
         * DiskState
         * @enum {string}
         */
        DiskState: "available" | "waiting" | "restoring" | "in_use" | "snapshotting" | "deleted";
        /**
         * Endpoint
         * @enum {string}
         */
        Endpoint: "checker" | "benchmark" | "full" | "sample" | "sandbox";
        /** ErrorMap */
        ErrorMap: {
            /** Output */
            output: string;
            /** Output Rows */
            output_rows: number;
            /** Output Columns */
            output_columns: number;
            /** Cell Rows */
            cell_rows: number;
            /** Cell Columns */
            cell_columns: number;
            /** Shares */
            shares: (number | null)[][];
        };
        /** ErrorWindow */
        ErrorWindow: {
            /** Output */
            output: string;
            /** Origin */
            origin: number[];
            /** Expected */
            expected: (number | string | null)[][];
            /** Actual */
            actual: (number | string | null)[][];
            /** Wrong */
            wrong: (boolean | null)[][];
        };
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
            reclaimMinRuntime?: number | string | null;
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
        /**
         * FinalStatus
         * @enum {string}
         */
        FinalStatus: "CHECKED" | "BENCHMARKED" | "ACCEPTED" | "PASSED" | "SANDBOX_SUCCESS" | "COMPILE_ERROR" | "RUNTIME_ERROR" | "WRONG_ANSWER" | "TIME_LIMIT_EXCEEDED" | "MEMORY_LIMIT_EXCEEDED" | "ERROR" | "SAMPLE_ONLY" | "CANCELLED" | "FAILED" | "SANDBOX_ERROR" | "SANDBOX_TIMEOUT" | "SANDBOX_OUTPUT_LIMIT";
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
        /** GpuMetrics */
        GpuMetrics: {
            clock_mhz?: components["schemas"]["MetricBand"];
            temperature_celsius?: components["schemas"]["MetricBand"];
            power_watts?: components["schemas"]["MetricBand"];
            /** Sm Clock Mhz Min */
            sm_clock_mhz_min?: number;
            /** Sm Clock Mhz Max */
            sm_clock_mhz_max?: number;
            /** Sm Clock Mhz Mean */
            sm_clock_mhz_mean?: number;
            /** Temp C Min */
            temp_c_min?: number;
            /** Temp C Max */
            temp_c_max?: number;
            /** Temp C Mean */
            temp_c_mean?: number;
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
        /** Health */
        Health: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
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
        /** InstrumentReading */
        InstrumentReading: {
            /** Sample */
            sample: number;
            /** Time Ms */
            time_ms: number;
            /** Clock Mhz */
            clock_mhz: number | null;
            /** Temperature Celsius */
            temperature_celsius: number | null;
            /** Power Watts */
            power_watts: number | null;
        };
        /** IsaHint */
        IsaHint: {
            /** Subject */
            subject: string;
            /** Line */
            line: number | null;
            /** What */
            what: string;
            /** Why */
            why: string;
            /** Advice */
            advice: string;
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
        /**
         * JobState
         * @enum {string}
         */
        JobState: "QUEUED" | "PROVISIONING" | "RUNNING" | "SETTLING" | "FINISHED" | "CANCELLED" | "FAILED";
        /** KernelIsa */
        KernelIsa: {
            /** Vgpr */
            vgpr: number;
            /** Sgpr */
            sgpr: number;
            /** Agpr */
            agpr: number;
            /** Lds Bytes */
            lds_bytes: number;
            /** Scratch Bytes */
            scratch_bytes: number;
            /** Spills */
            spills: number;
            /** Occupancy */
            occupancy: number;
            /** Symbol */
            symbol: string;
            /** Line */
            line: number | null;
            /** Vgpr Spills */
            vgpr_spills: number;
            /** Limited By */
            limited_by: string | null;
            /** Next Step Saving */
            next_step_saving: number | null;
            /** Block Threads */
            block_threads: number | null;
            /** Block Threads Known */
            block_threads_known: boolean;
            /** Dynamic Lds */
            dynamic_lds: boolean;
            /** Mfma */
            mfma: number;
            /** Instructions */
            instructions: number;
            /** Uncounted */
            uncounted: string[];
            /** Hints */
            hints: components["schemas"]["IsaHint"][];
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
            keys: components["schemas"]["UserKey"][];
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
        /** ListedProblem */
        ListedProblem: {
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
            status: components["schemas"]["ProblemStatus"];
            /** Attempts */
            attempts: number;
            /** Best Runtime Ms */
            best_runtime_ms: number | null;
            /** Best Runtime Interval */
            best_runtime_interval: number | null;
            /** Record Runtime Ms */
            record_runtime_ms: number | null;
            /** Record Runtime Interval */
            record_runtime_interval: number | null;
            /** Users */
            users: number;
        };
        /** LoginKey */
        LoginKey: {
            /** User */
            user: string;
            /** Type */
            type: string;
            /** Fingerprint */
            fingerprint: string;
        };
        /** Machine */
        Machine: {
            /** Id */
            id: string;
            /** State */
            state: components["schemas"]["MachineState"];
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
            origin: components["schemas"]["MachineOrigin"];
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
            fault: components["schemas"]["MachineFault"] | null;
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
        /**
         * MachineFault
         * @enum {string}
         */
        MachineFault: "NO_CAPACITY" | "INTERRUPTED" | "UNREACHABLE" | "START_TIMEOUT" | "EXPIRED" | "EXECUTOR_EXITED" | "MISCONFIGURED" | "PROVIDER" | "UNFIT";
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
        /**
         * MachineOrigin
         * @enum {string}
         */
        MachineOrigin: "DEMAND" | "REQUEST" | "SCHEDULE" | "ADOPTED";
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
        /**
         * MachineState
         * @enum {string}
         */
        MachineState: "REQUESTED" | "PROVISIONING" | "STARTING" | "WARM" | "BUSY" | "DRAINING" | "STOPPED" | "FAILED" | "LOST";
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
            role: components["schemas"]["RoleName"];
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
            level: components["schemas"]["LevelName"];
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
        /** MetricBand */
        MetricBand: {
            /** Low */
            low: number;
            /** Median */
            median: number;
            /** High */
            high: number;
            /** Mean */
            mean: number;
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
            visibility: components["schemas"]["Visibility"];
            /** Problem */
            problem: string;
            mode: components["schemas"]["Mode"];
            /** Timing */
            timing: components["schemas"]["TimingMode"] | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Hardware */
            hardware: string | null;
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** State */
            state: components["schemas"]["JobState"];
            /** Status */
            status: components["schemas"]["FinalStatus"] | null;
            /** Verdict */
            verdict: components["schemas"]["Verdict"] | null;
            /** Timing Status */
            timing_status: components["schemas"]["Timing"] | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Runtime Ms */
            runtime_ms: number | null;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** Gflops */
            gflops: number | null;
            /** Passed Tests */
            passed_tests: number | null;
            /** Total Tests */
            total_tests: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /** Account Id */
            account_id: string;
            /** User Id */
            user_id: string | null;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
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
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
            /** Remaining Submissions */
            remaining_submissions: number;
        };
        /** NewTicket */
        NewTicket: {
            /** Ticket */
            ticket: string;
            /** Expire Time */
            expire_time: string | null;
            /** Url */
            url: string;
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
            state: components["schemas"]["ReservationState"];
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
            notify: components["schemas"]["NotifyWord"];
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
        /**
         * OverheadPolicy
         * @enum {string}
         */
        OverheadPolicy: "OPERATOR" | "SHARED";
        /** OverseenSubmission */
        OverseenSubmission: {
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            visibility: components["schemas"]["Visibility"];
            /** Problem */
            problem: string;
            mode: components["schemas"]["Mode"];
            /** Timing */
            timing: components["schemas"]["TimingMode"] | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Hardware */
            hardware: string | null;
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** State */
            state: components["schemas"]["JobState"];
            /** Status */
            status: components["schemas"]["FinalStatus"] | null;
            /** Verdict */
            verdict: components["schemas"]["Verdict"] | null;
            /** Timing Status */
            timing_status: components["schemas"]["Timing"] | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Runtime Ms */
            runtime_ms: number | null;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** Gflops */
            gflops: number | null;
            /** Passed Tests */
            passed_tests: number | null;
            /** Total Tests */
            total_tests: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /** Account Id */
            account_id: string;
            /** User Id */
            user_id: string | null;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
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
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
            /**
             * Own
             * @default false
             * @constant
             */
            own?: false;
            /**
             * Overseen
             * @constant
             */
            overseen: true;
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
            kind: components["schemas"]["PostingKind"];
            /** Amount Usd */
            amount_usd: number;
            /** Description */
            description: string;
        };
        /**
         * PostingKind
         * @enum {string}
         */
        PostingKind: "GRANT" | "HOLD" | "RELEASE" | "CHARGE" | "REFUND" | "EXPIRY" | "REVOCATION";
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
            source: components["schemas"]["PriceSource"];
            /** Create Time */
            create_time: string | null;
        };
        /**
         * PriceSource
         * @enum {string}
         */
        PriceSource: "SETTINGS" | "ADMINISTRATOR";
        /** ProblemCase */
        ProblemCase: {
            /** Name */
            name: string;
            /** Sizes */
            sizes: {
                [key: string]: string;
            };
            /** Bytes */
            bytes: number;
            /** Flops */
            flops: number;
            /** Least Ms */
            least_ms: number | null;
            /** Bound */
            bound: components["schemas"]["Bound"] | null;
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
            /** Parameters */
            parameters: components["schemas"]["ProblemParameter"][];
            /** Gpu Type */
            gpu_type: string;
            /** Cases */
            cases: components["schemas"]["ProblemCase"][];
        };
        /** ProblemList */
        ProblemList: {
            /** Gpu Type */
            gpu_type: string;
            /** Dtype */
            dtype: string;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Problems */
            problems: components["schemas"]["ListedProblem"][];
            /** Total */
            total: number;
        };
        /** ProblemParameter */
        ProblemParameter: {
            /** Name */
            name: string;
            /** Type */
            type: string;
            /** Const */
            const: boolean;
            /** Pointer */
            pointer: boolean;
            /** Meaning */
            meaning: string;
        };
        /**
         * ProblemStatus
         * @enum {string}
         */
        ProblemStatus: "none" | "tried" | "solved";
        /** Profile */
        Profile: {
            /** Outcome */
            outcome: components["schemas"]["ProfileOutcome"];
            /** Note */
            note: string | null;
            /** Tool */
            tool: string | null;
            /** Tool Version */
            tool_version: string | null;
            /** Clock */
            clock: components["schemas"]["ProfileClock"] | null;
            /** Name */
            name: string | null;
            /** Solution Calls */
            solution_calls: number;
            /** Kernels */
            kernels: components["schemas"]["ProfiledKernel"][];
            /** Kernels Left Out */
            kernels_left_out: number;
        };
        /**
         * ProfileChange
         * @example {
         *       "profile": "off"
         *     }
         */
        ProfileChange: {
            profile: components["schemas"]["ProfileWord"];
        };
        /**
         * ProfileClock
         * @enum {string}
         */
        ProfileClock: "GPU" | "HOST";
        /**
         * ProfileOutcome
         * @enum {string}
         */
        ProfileOutcome: "MADE" | "UNAVAILABLE" | "FAILED" | "SKIPPED";
        /** ProfileSetting */
        ProfileSetting: {
            /** Profile */
            profile: components["schemas"]["ProfileWord"];
        };
        /**
         * ProfileWord
         * @enum {string}
         */
        ProfileWord: "public" | "off";
        /** ProfiledKernel */
        ProfiledKernel: {
            /** Name */
            name: string;
            /** Calls */
            calls: number;
            /** Total Ns */
            total_ns: number;
            /** Mean Ns */
            mean_ns: number;
            /** Min Ns */
            min_ns: number;
            /** Max Ns */
            max_ns: number;
            /** Share */
            share: number;
            /** Grid */
            grid: number[] | null;
            /** Block */
            block: number[] | null;
            /** Vgpr */
            vgpr: number | null;
            /** Agpr */
            agpr: number | null;
            /** Sgpr */
            sgpr: number | null;
            /** Lds Bytes */
            lds_bytes: number | null;
            /** Scratch Bytes */
            scratch_bytes: number | null;
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
        /** PublicSubmission */
        PublicSubmission: {
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            /** Problem */
            problem: string;
            mode: components["schemas"]["Mode"];
            /** Gpu Type */
            gpu_type: string;
            /** Dtype */
            dtype: string;
            /** State */
            state: components["schemas"]["JobState"];
            /** Status */
            status: components["schemas"]["FinalStatus"] | null;
            /** Timing Status */
            timing_status: components["schemas"]["Timing"] | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Runtime Ms */
            runtime_ms: number | null;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** Create Time */
            create_time: string | null;
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
                [key: string]: components["schemas"]["JobClassDocument"];
            };
            /** Default Class */
            default_class: string | null;
            /** Max Priority */
            max_priority: number;
            /** Document */
            document: components["schemas"]["QueueDocument"];
        };
        /** QueueChange */
        QueueChange: {
            /** Name */
            name: string;
            /** Kind */
            kind: components["schemas"]["QueueChangeKind"];
            /** Fields */
            fields: components["schemas"]["FieldChange"][];
        };
        /**
         * QueueChangeKind
         * @enum {string}
         */
        QueueChangeKind: "ADDED" | "CHANGED" | "REMOVED";
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
            timeLimit?: number | string | null;
            /** Longestborrowing */
            longestBorrowing?: number | string | null;
            /** Recallnotice */
            recallNotice?: number | string | null;
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
            /** Runtime Interval */
            runtime_interval: number | null;
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
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Ranked */
            ranked: boolean;
            /** Users */
            users: number;
            /** Rankings */
            rankings: components["schemas"]["RankedTime"][];
            you: components["schemas"]["RankedTime"] | null;
        };
        /** Readiness */
        Readiness: {
            /**
             * Status
             * @enum {string}
             */
            status: "ready" | "not ready";
            /** Services */
            services: {
                [key: string]: string;
            };
        };
        /** RecordHistory */
        RecordHistory: {
            /** Problem */
            problem: string;
            /** Gpu Type */
            gpu_type: string;
            /** Dtype */
            dtype: string;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Ranked */
            ranked: boolean;
            /** Records */
            records: components["schemas"]["RecordTime"][];
            /** You */
            you: components["schemas"]["RecordTime"][];
        };
        /** RecordTime */
        RecordTime: {
            /** Time */
            time: string | null;
            /** Runtime Ms */
            runtime_ms: number;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** User */
            user: string;
            /** Is You */
            is_you: boolean;
            /** Submission Id */
            submission_id: string | null;
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
        /** ReplacedSample */
        ReplacedSample: {
            /** Index */
            index: number;
            /** Ms */
            ms: number;
            /** Cause */
            cause: string;
        };
        /** ReportSignature */
        ReportSignature: {
            /** Keyid */
            keyid: string;
            /** Sig */
            sig: string;
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
            state: components["schemas"]["ReservationState"];
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
            keys: components["schemas"]["LoginKey"][];
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
        /**
         * ReservationState
         * @enum {string}
         */
        ReservationState: "pending" | "queued" | "preparing" | "active" | "expiring" | "expired" | "cancelled" | "failed";
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
        /** SampleOutputs */
        SampleOutputs: {
            /**
             * Multi
             * @constant
             */
            multi: true;
            /** Names */
            names: string[];
            /** Values */
            values: components["schemas"]["SampleValue"][];
        };
        SampleValue: boolean | number | string | (boolean | number | string | null)[] | (boolean | number | string | null)[][] | (boolean | number | string | null)[][][] | (boolean | number | string | null)[][][][] | (boolean | number | string | null)[][][][][] | null;
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
            kind: components["schemas"]["SchedulerPluginKind"];
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
        /**
         * SchedulerPluginKind
         * @enum {string}
         */
        SchedulerPluginKind: "ordering" | "placement";
        /** SessionSamples */
        SessionSamples: {
            /** Session */
            session: number | null;
            /** Samples Ms */
            samples_ms: number[];
            /** Replaced */
            replaced: components["schemas"]["ReplacedSample"][];
        };
        /** SharedSubmission */
        SharedSubmission: {
            /** Code */
            code: string;
            /** Launch Plan */
            launch_plan: {
                [key: string]: unknown;
            } | null;
            /** Problem Def */
            problem_def: string;
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            visibility: components["schemas"]["Visibility"];
            /** Problem */
            problem: string;
            mode: components["schemas"]["Mode"];
            /** Timing */
            timing: components["schemas"]["TimingMode"] | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Hardware */
            hardware: string | null;
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** State */
            state: components["schemas"]["JobState"];
            /** Status */
            status: components["schemas"]["FinalStatus"] | null;
            /** Verdict */
            verdict: components["schemas"]["Verdict"] | null;
            /** Timing Status */
            timing_status: components["schemas"]["Timing"] | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Runtime Ms */
            runtime_ms: number | null;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** Gflops */
            gflops: number | null;
            /** Passed Tests */
            passed_tests: number | null;
            /** Total Tests */
            total_tests: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /**
             * Own
             * @default false
             * @constant
             */
            own?: false;
            /** Result */
            result: components["schemas"]["SharedSubmissionResult"] | null;
        };
        /** SharedSubmissionResult */
        SharedSubmissionResult: {
            verdict: components["schemas"]["Verdict"];
            /** Message */
            message: string;
            /** Details */
            details: string;
            /** Reason */
            reason: string;
            /** Stdout */
            stdout: string;
            /** Stderr */
            stderr: string;
            /** Test Results */
            test_results?: components["schemas"]["TestOutcome"][] | components["schemas"]["CaseTime"][];
            /** Passed Tests */
            passed_tests?: number;
            /** Total Tests */
            total_tests?: number;
            debug_info?: components["schemas"]["DebugInfo"];
            /** Isa */
            isa?: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain?: string | null;
            /** Isa Note */
            isa_note?: string | null;
            profile?: components["schemas"]["Profile"];
            /** Benchmark Results */
            benchmark_results?: components["schemas"]["CaseTime"][];
            /** Avg Runtime Ms */
            avg_runtime_ms?: number;
            /** Avg Runtime Interval */
            avg_runtime_interval?: number | null;
            /** Avg Gflops */
            avg_gflops?: number;
            timing?: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because?: string | null;
            /** Shown Interval */
            shown_interval?: number | null;
            /** Converged */
            converged?: boolean;
            /** Simulated */
            simulated?: boolean;
            /** Timing Mode */
            timing_mode?: components["schemas"]["TimingMode"] | null;
            /** Flush Verified */
            flush_verified?: boolean | null;
            /** Input */
            input?: {
                [key: string]: components["schemas"]["SampleValue"];
            };
            /** Output */
            output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Expected Output */
            expected_output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Return Code */
            return_code?: number;
            /** Truncated */
            truncated?: boolean;
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
            /** Public Problems */
            public_problems: boolean;
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
        /** SignedReport */
        SignedReport: {
            /** Payloadtype */
            payloadType: string;
            /** Payload */
            payload: string;
            /** Signatures */
            signatures: components["schemas"]["ReportSignature"][];
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
         * SnapshotReason
         * @enum {string}
         */
        SnapshotReason: "interval" | "warning" | "request" | "end";
        /** Solved */
        Solved: {
            /** Difficulty */
            difficulty: string;
            /** Solved */
            solved: number;
            /** Problems */
            problems: number;
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
            kind: components["schemas"]["PostingKind"];
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
            visibility: components["schemas"]["Visibility"];
            /** Problem */
            problem: string;
            mode: components["schemas"]["Mode"];
            /** Timing */
            timing: components["schemas"]["TimingMode"] | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Hardware */
            hardware: string | null;
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** State */
            state: components["schemas"]["JobState"];
            /** Status */
            status: components["schemas"]["FinalStatus"] | null;
            /** Verdict */
            verdict: components["schemas"]["Verdict"] | null;
            /** Timing Status */
            timing_status: components["schemas"]["Timing"] | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Runtime Ms */
            runtime_ms: number | null;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** Gflops */
            gflops: number | null;
            /** Passed Tests */
            passed_tests: number | null;
            /** Total Tests */
            total_tests: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /** Account Id */
            account_id: string;
            /** User Id */
            user_id: string | null;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
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
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
        };
        /** SubmissionChange */
        SubmissionChange: {
            /** Name */
            name?: string | null;
            visibility?: components["schemas"]["Visibility"] | null;
        };
        /** SubmissionDay */
        SubmissionDay: {
            /**
             * Date
             * Format: date
             */
            date: string;
            /** Submissions */
            submissions: number;
        };
        /** SubmissionDetail */
        SubmissionDetail: {
            /** Code */
            code: string;
            /** Launch Plan */
            launch_plan: {
                [key: string]: unknown;
            } | null;
            /** Problem Def */
            problem_def: string;
            /** Id */
            id: string;
            /** Name */
            name: string | null;
            visibility: components["schemas"]["Visibility"];
            /** Problem */
            problem: string;
            mode: components["schemas"]["Mode"];
            /** Timing */
            timing: components["schemas"]["TimingMode"] | null;
            /** Profile */
            profile: boolean;
            /** Gpu Type */
            gpu_type: string;
            /** Hardware */
            hardware: string | null;
            /** Dtype */
            dtype: string;
            /** Language */
            language: string;
            /** State */
            state: components["schemas"]["JobState"];
            /** Status */
            status: components["schemas"]["FinalStatus"] | null;
            /** Verdict */
            verdict: components["schemas"]["Verdict"] | null;
            /** Timing Status */
            timing_status: components["schemas"]["Timing"] | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Runtime Ms */
            runtime_ms: number | null;
            /** Runtime Interval */
            runtime_interval: number | null;
            /** Gflops */
            gflops: number | null;
            /** Passed Tests */
            passed_tests: number | null;
            /** Total Tests */
            total_tests: number | null;
            /** Message */
            message: string;
            /** Create Time */
            create_time: string | null;
            /** Start Time */
            start_time: string | null;
            /** End Time */
            end_time: string | null;
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /** Last Event Id */
            last_event_id: number;
            /** Events Url */
            events_url: string;
            /** Account Id */
            account_id: string;
            /** User Id */
            user_id: string | null;
            /** Fallback Gpu Types */
            fallback_gpu_types: string[];
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
            /** Attempt */
            attempt: number;
            /** Machine Id */
            machine_id: string | null;
            /** Got Gpus */
            got_gpus: number | null;
            /** Cost Usd */
            cost_usd: number;
            /** Billable Seconds */
            billable_seconds: number | null;
            /**
             * Own
             * @default true
             * @constant
             */
            own?: true;
            /** Result */
            result: components["schemas"]["SubmissionResult"] | null;
            /** Request */
            request: components["schemas"]["SubmissionRequest"];
        };
        /** SubmissionIsa */
        SubmissionIsa: {
            /** Id */
            id: string;
            /** Isa */
            isa: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain: string | null;
            /** Isa Note */
            isa_note: string | null;
            /** Listing */
            listing: string;
        };
        /**
         * SubmissionOrder
         * @enum {string}
         */
        SubmissionOrder: "newest" | "fastest";
        /** SubmissionPage */
        SubmissionPage: {
            /** Submissions */
            submissions: components["schemas"]["Submission"][];
            /** Next Page Token */
            next_page_token: string;
            /** Total */
            total: number | null;
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
        /** SubmissionResult */
        SubmissionResult: {
            verdict: components["schemas"]["Verdict"];
            /** Message */
            message: string;
            /** Details */
            details: string;
            /** Reason */
            reason: string;
            /** Stdout */
            stdout: string;
            /** Stderr */
            stderr: string;
            /** Has Report */
            has_report: boolean;
            /** Billable Seconds */
            billable_seconds: number;
            /** Test Results */
            test_results?: components["schemas"]["TestOutcome"][] | components["schemas"]["CaseTime"][];
            /** Passed Tests */
            passed_tests?: number;
            /** Total Tests */
            total_tests?: number;
            debug_info?: components["schemas"]["DebugInfo"];
            /** Isa */
            isa?: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain?: string | null;
            /** Isa Note */
            isa_note?: string | null;
            profile?: components["schemas"]["Profile"];
            /** Benchmark Results */
            benchmark_results?: components["schemas"]["CaseTime"][];
            /** Avg Runtime Ms */
            avg_runtime_ms?: number;
            /** Avg Runtime Interval */
            avg_runtime_interval?: number | null;
            /** Avg Gflops */
            avg_gflops?: number;
            timing?: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because?: string | null;
            /** Shown Interval */
            shown_interval?: number | null;
            /** Converged */
            converged?: boolean;
            /** Simulated */
            simulated?: boolean;
            /** Timing Mode */
            timing_mode?: components["schemas"]["TimingMode"] | null;
            /** Flush Verified */
            flush_verified?: boolean | null;
            /** Input */
            input?: {
                [key: string]: components["schemas"]["SampleValue"];
            };
            /** Output */
            output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Expected Output */
            expected_output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Return Code */
            return_code?: number;
            /** Truncated */
            truncated?: boolean;
        };
        /** SubmissionSamples */
        SubmissionSamples: {
            /** Id */
            id: string;
            /** Cases */
            cases: components["schemas"]["CaseSamples"][];
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
            reason: components["schemas"]["SnapshotReason"];
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
        /** TestOutcome */
        TestOutcome: {
            /** Test Id */
            test_id: number;
            /** Name */
            name: string;
            /** Status */
            status: components["schemas"]["TestStatus"];
        };
        /**
         * TestStatus
         * @enum {string}
         */
        TestStatus: "PASSED" | "FAILED" | "NOT_RUN";
        /**
         * TicketRequest
         * @example {
         *       "path": "/api/v1/submissions/job_1/report"
         *     }
         */
        TicketRequest: {
            /** Path */
            path: string;
        };
        /** TimedRun */
        TimedRun: {
            /** Run Index */
            run_index: number;
            /** Runtime Ms */
            runtime_ms: number;
        };
        /**
         * Timing
         * @enum {string}
         */
        Timing: "VALID" | "INVALID" | "UNSTABLE" | "UNPROVEN";
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
            role: components["schemas"]["RoleName"];
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
        /** UserKey */
        UserKey: {
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
        /** UserList */
        UserList: {
            /** Users */
            users: components["schemas"]["User"][];
        };
        /** UserProfile */
        UserProfile: {
            /** Name */
            name: string;
            /** Solved */
            solved: components["schemas"]["Solved"][];
            /** Days */
            days: components["schemas"]["SubmissionDay"][];
            /** Public Submissions */
            public_submissions: components["schemas"]["PublicSubmission"][];
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
        /**
         * Verdict
         * @enum {string}
         */
        Verdict: "ACCEPTED" | "COMPILE_ERROR" | "COMPILE_LIMIT" | "FORBIDDEN_SOURCE" | "FORBIDDEN_LIBRARY" | "LAUNCH_ERROR" | "RUNTIME_ERROR" | "WRONG_ANSWER" | "PRECISION" | "INPUT_MODIFIED" | "OUT_OF_BOUNDS" | "NONDETERMINISTIC" | "TIME_LIMIT_EXCEEDED" | "MEMORY_LIMIT_EXCEEDED" | "OUTPUT_LIMIT_EXCEEDED" | "TIMING_INVALID" | "UNSTABLE" | "CANCELLED" | "INFRA_ERROR" | "PROBLEM_ERROR" | "SAMPLE_ONLY";
        /**
         * Visibility
         * @enum {string}
         */
        Visibility: "private" | "link" | "public";
        /** VmPoolEntry */
        VmPoolEntry: {
            /** Id */
            id: string;
            /** State */
            state: components["schemas"]["MachineState"];
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
        /** BenchmarkResultEvent */
        BenchmarkResultEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "BENCHMARK_RESULT";
            result: components["schemas"]["MeasuredCase"];
            /** Total Tests */
            total_tests: number;
        };
        /**
         * BenchmarkStage
         * @enum {string}
         */
        BenchmarkStage: "MEASURING" | "AUDITING";
        /** BenchmarkedEvent */
        BenchmarkedEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            timing: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Avg Runtime Ms */
            avg_runtime_ms: number;
            /** Avg Runtime Interval */
            avg_runtime_interval: number | null;
            /** Avg Gflops */
            avg_gflops: number;
            /** Total Tests */
            total_tests: number;
            /** Converged */
            converged: boolean;
            /** Simulated */
            simulated: boolean;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Flush Verified */
            flush_verified: boolean | null;
            /**
             * Status
             * @constant
             */
            status: "BENCHMARKED";
            /** Test Results */
            test_results: components["schemas"]["CaseTime"][];
        };
        /** BenchmarkingEvent */
        BenchmarkingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "BENCHMARKING";
            /** Total Tests */
            total_tests: number;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Message */
            message: string;
            /** Stage */
            stage?: components["schemas"]["BenchmarkStage"];
            /** Session */
            session?: number;
            /** Sessions */
            sessions?: number;
            /** Test Id */
            test_id?: number;
            /** Name */
            name?: string;
            /** Samples */
            samples?: number;
        };
        /** CheckedEvent */
        CheckedEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /**
             * Status
             * @constant
             */
            status: "CHECKED";
            /** Test Results */
            test_results: components["schemas"]["TestOutcome"][];
            /** Passed Tests */
            passed_tests: number;
            /** Total Tests */
            total_tests: number;
        };
        /** CheckingEvent */
        CheckingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "CHECKING";
            /** Total Tests */
            total_tests: number;
            /** Message */
            message: string;
        };
        /** CompiledEvent */
        CompiledEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Isa */
            isa: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain: string | null;
            /** Isa Note */
            isa_note: string | null;
            /**
             * Status
             * @constant
             */
            status: "COMPILED";
            /** Warnings */
            warnings: string;
            /** Duration Ms */
            duration_ms: number;
            /** Cached */
            cached: boolean;
        };
        /** CompilingEvent */
        CompilingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /**
             * Status
             * @constant
             */
            status: "COMPILING";
            /** Toolchain */
            toolchain: string;
            /** Cached */
            cached: boolean;
            /** Command */
            command: string | null;
            /** Message */
            message: string;
        };
        /** EndedEvent */
        EndedEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            verdict: components["schemas"]["Verdict"];
            /** Message */
            message: string;
            /** Details */
            details: string;
            /** Reason */
            reason: string;
            /** Stdout */
            stdout: string;
            /** Stderr */
            stderr: string;
            /** Has Report */
            has_report: boolean;
            /** Billable Seconds */
            billable_seconds: number;
            /** Test Results */
            test_results?: components["schemas"]["TestOutcome"][] | components["schemas"]["CaseTime"][];
            /** Passed Tests */
            passed_tests?: number;
            /** Total Tests */
            total_tests?: number;
            debug_info?: components["schemas"]["DebugInfo"];
            /** Isa */
            isa?: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain?: string | null;
            /** Isa Note */
            isa_note?: string | null;
            profile?: components["schemas"]["Profile"];
            /** Benchmark Results */
            benchmark_results?: components["schemas"]["CaseTime"][];
            /** Avg Runtime Ms */
            avg_runtime_ms?: number;
            /** Avg Runtime Interval */
            avg_runtime_interval?: number | null;
            /** Avg Gflops */
            avg_gflops?: number;
            timing?: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because?: string | null;
            /** Shown Interval */
            shown_interval?: number | null;
            /** Converged */
            converged?: boolean;
            /** Simulated */
            simulated?: boolean;
            /** Timing Mode */
            timing_mode?: components["schemas"]["TimingMode"] | null;
            /** Flush Verified */
            flush_verified?: boolean | null;
            /** Input */
            input?: {
                [key: string]: components["schemas"]["SampleValue"];
            };
            /** Output */
            output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Expected Output */
            expected_output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Return Code */
            return_code?: number;
            /** Truncated */
            truncated?: boolean;
            /** Status */
            status: components["schemas"]["FinalStatus"];
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /**
             * Final
             * @constant
             */
            final: true;
        };
        /** HeartbeatEvent */
        HeartbeatEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "heartbeat";
            /** Submission Id */
            submission_id?: string;
            /** Timestamp */
            timestamp: number;
        };
        /** InQueueEvent */
        InQueueEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "IN_QUEUE";
            /** Id */
            id: string;
            /** Position */
            position: number | null;
            /** Eta P50 Seconds */
            eta_p50_seconds: number | null;
            /** Eta P90 Seconds */
            eta_p90_seconds: number | null;
            /** Remainingsubmissions */
            remainingSubmissions?: number;
            /** Message */
            message: string;
        };
        /** MachineFigures */
        MachineFigures: {
            /** Id */
            id: string;
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
            /** Price Usd Per Hour */
            price_usd_per_hour: number;
            /** Minimum Billed Seconds */
            minimum_billed_seconds: number;
            /** Billing Increment Seconds */
            billing_increment_seconds: number;
        };
        /** MeasuredCase */
        MeasuredCase: {
            timing: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Name */
            name: string;
            /** Test Id */
            test_id: number;
            /** Runtime Ms */
            runtime_ms: number;
            /** Gflops */
            gflops: number;
            /** Gbytes Per Second */
            gbytes_per_second: number;
            /** Percent Of Roof */
            percent_of_roof: number | null;
            /** Bound */
            bound: components["schemas"]["Bound"] | null;
            ci: components["schemas"]["ConfidenceInterval"];
            /** Samples */
            samples: number;
            /** Converged */
            converged: boolean;
            /** Stopped By */
            stopped_by: string;
            /** Min Ms */
            min_ms: number;
            /** P5 Ms */
            p5_ms: number;
            /** P25 Ms */
            p25_ms: number;
            /** P75 Ms */
            p75_ms: number;
            /** P95 Ms */
            p95_ms: number;
            /** P99 Ms */
            p99_ms: number;
            /** Max Ms */
            max_ms: number;
            /** Mad Ms */
            mad_ms: number;
            /** Bimodality */
            bimodality: number | null;
            /** Correlation Time */
            correlation_time: number;
            /** Session Medians Ms */
            session_medians_ms: number[];
            /** Disagreement */
            disagreement: number;
            /** Runs */
            runs: components["schemas"]["TimedRun"][];
            /** Audit Ratio */
            audit_ratio: number | null;
            /** Audited Calls */
            audited_calls: number;
            /** Null Ms */
            null_ms: number;
            /** Floor Ms */
            floor_ms: number | null;
            /** Hot Ms */
            hot_ms: number | null;
            /** First Call Ms */
            first_call_ms: number;
            /** Stream Span Ms */
            stream_span_ms: number | null;
            /** Device Span Ms */
            device_span_ms: number | null;
            /** Flush Bytes */
            flush_bytes: number;
            /** Arithmetic Intensity */
            arithmetic_intensity: number | null;
            /** Replaced Samples */
            replaced_samples: number;
            gpu_metrics: components["schemas"]["GpuMetrics"];
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
        };
        /** ProfilingEvent */
        ProfilingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /**
             * Status
             * @constant
             */
            status: "PROFILING";
            /** Tool */
            tool: string;
            /** Name */
            name: string;
            /** Message */
            message: string;
        };
        /** ProvisioningEvent */
        ProvisioningEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Vm State */
            vm_state: components["schemas"]["StartKind"] | null;
            /** Stage */
            stage: string;
            machine: components["schemas"]["MachineFigures"] | null;
            /** Elapsed Seconds */
            elapsed_seconds: number;
            /** Estimate Seconds */
            estimate_seconds: number | null;
            /** Estimate P90 Seconds */
            estimate_p90_seconds: number | null;
            /** Start Limit Seconds */
            start_limit_seconds: number | null;
            /** Message */
            message: string;
            /**
             * Status
             * @constant
             */
            status: "PROVISIONING";
        };
        /** SandboxOutputEvent */
        SandboxOutputEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "SANDBOX_OUTPUT";
            /** Stream */
            stream: string;
            /** Line */
            line: string;
        };
        /** SandboxRunningEvent */
        SandboxRunningEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "SANDBOX_RUNNING";
        };
        /**
         * StartKind
         * @enum {string}
         */
        StartKind: "COLD_START" | "WARM_REUSE";
        /** StreamBrokenEvent */
        StreamBrokenEvent: {
            /**
             * Status
             * @constant
             */
            status: "ERROR";
            /** Submission Id */
            submission_id: string;
            verdict: components["schemas"]["Verdict"];
            /** Message */
            message: string;
            /** Details */
            details: string;
        };
        /** TestResultEvent */
        TestResultEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /**
             * Status
             * @constant
             */
            status: "TEST_RESULT";
            result: components["schemas"]["TestOutcome"];
            /** Total Tests */
            total_tests: number;
        };
        SubmissionEvent: components["schemas"]["InQueueEvent"] | components["schemas"]["ProvisioningEvent"] | components["schemas"]["CompilingEvent"] | components["schemas"]["CompiledEvent"] | components["schemas"]["CheckingEvent"] | components["schemas"]["TestResultEvent"] | components["schemas"]["CheckedEvent"] | components["schemas"]["BenchmarkingEvent"] | components["schemas"]["BenchmarkResultEvent"] | components["schemas"]["BenchmarkedEvent"] | components["schemas"]["ProfilingEvent"] | components["schemas"]["SandboxRunningEvent"] | components["schemas"]["SandboxOutputEvent"] | components["schemas"]["StreamBrokenEvent"] | components["schemas"]["HeartbeatEvent"] | components["schemas"]["EndedEvent"];
        /** SharedBenchmarkResultEvent */
        SharedBenchmarkResultEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /**
             * Status
             * @constant
             */
            status: "BENCHMARK_RESULT";
            result: components["schemas"]["MeasuredCase"];
            /** Total Tests */
            total_tests: number;
        };
        /** SharedBenchmarkedEvent */
        SharedBenchmarkedEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            timing: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because: string | null;
            /** Shown Interval */
            shown_interval: number | null;
            /** Avg Runtime Ms */
            avg_runtime_ms: number;
            /** Avg Runtime Interval */
            avg_runtime_interval: number | null;
            /** Avg Gflops */
            avg_gflops: number;
            /** Total Tests */
            total_tests: number;
            /** Converged */
            converged: boolean;
            /** Simulated */
            simulated: boolean;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Flush Verified */
            flush_verified: boolean | null;
            /**
             * Status
             * @constant
             */
            status: "BENCHMARKED";
            /** Test Results */
            test_results: components["schemas"]["CaseTime"][];
        };
        /** SharedBenchmarkingEvent */
        SharedBenchmarkingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /**
             * Status
             * @constant
             */
            status: "BENCHMARKING";
            /** Total Tests */
            total_tests: number;
            /** Timing Mode */
            timing_mode: components["schemas"]["TimingMode"] | null;
            /** Message */
            message: string;
            /** Stage */
            stage?: components["schemas"]["BenchmarkStage"];
            /** Session */
            session?: number;
            /** Sessions */
            sessions?: number;
            /** Test Id */
            test_id?: number;
            /** Name */
            name?: string;
            /** Samples */
            samples?: number;
        };
        /** SharedCheckedEvent */
        SharedCheckedEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /**
             * Status
             * @constant
             */
            status: "CHECKED";
            /** Test Results */
            test_results: components["schemas"]["TestOutcome"][];
            /** Passed Tests */
            passed_tests: number;
            /** Total Tests */
            total_tests: number;
        };
        /** SharedCheckingEvent */
        SharedCheckingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /**
             * Status
             * @constant
             */
            status: "CHECKING";
            /** Total Tests */
            total_tests: number;
            /** Message */
            message: string;
        };
        /** SharedCompiledEvent */
        SharedCompiledEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Isa */
            isa: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain: string | null;
            /** Isa Note */
            isa_note: string | null;
            /**
             * Status
             * @constant
             */
            status: "COMPILED";
            /** Warnings */
            warnings: string;
            /** Duration Ms */
            duration_ms: number;
            /** Cached */
            cached: boolean;
        };
        /** SharedCompilingEvent */
        SharedCompilingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /**
             * Status
             * @constant
             */
            status: "COMPILING";
            /** Toolchain */
            toolchain: string;
            /** Cached */
            cached: boolean;
            /** Command */
            command: string | null;
            /** Message */
            message: string;
        };
        /** SharedEndedEvent */
        SharedEndedEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            verdict: components["schemas"]["Verdict"];
            /** Message */
            message: string;
            /** Details */
            details: string;
            /** Reason */
            reason: string;
            /** Stdout */
            stdout: string;
            /** Stderr */
            stderr: string;
            /** Test Results */
            test_results?: components["schemas"]["TestOutcome"][] | components["schemas"]["CaseTime"][];
            /** Passed Tests */
            passed_tests?: number;
            /** Total Tests */
            total_tests?: number;
            debug_info?: components["schemas"]["DebugInfo"];
            /** Isa */
            isa?: {
                [key: string]: components["schemas"]["KernelIsa"];
            };
            /** Isa Toolchain */
            isa_toolchain?: string | null;
            /** Isa Note */
            isa_note?: string | null;
            profile?: components["schemas"]["Profile"];
            /** Benchmark Results */
            benchmark_results?: components["schemas"]["CaseTime"][];
            /** Avg Runtime Ms */
            avg_runtime_ms?: number;
            /** Avg Runtime Interval */
            avg_runtime_interval?: number | null;
            /** Avg Gflops */
            avg_gflops?: number;
            timing?: components["schemas"]["Timing"];
            /** Unproven Because */
            unproven_because?: string | null;
            /** Shown Interval */
            shown_interval?: number | null;
            /** Converged */
            converged?: boolean;
            /** Simulated */
            simulated?: boolean;
            /** Timing Mode */
            timing_mode?: components["schemas"]["TimingMode"] | null;
            /** Flush Verified */
            flush_verified?: boolean | null;
            /** Input */
            input?: {
                [key: string]: components["schemas"]["SampleValue"];
            };
            /** Output */
            output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Expected Output */
            expected_output?: components["schemas"]["SampleValue"] | components["schemas"]["SampleOutputs"];
            /** Return Code */
            return_code?: number;
            /** Truncated */
            truncated?: boolean;
            /** Status */
            status: components["schemas"]["FinalStatus"];
            /** Machine Gpu Type */
            machine_gpu_type: string | null;
            /**
             * Final
             * @constant
             */
            final: true;
        };
        /** SharedProfilingEvent */
        SharedProfilingEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Device */
            device: string | null;
            /** Device Title */
            device_title: string | null;
            /**
             * Status
             * @constant
             */
            status: "PROFILING";
            /** Tool */
            tool: string;
            /** Name */
            name: string;
            /** Message */
            message: string;
        };
        /** SharedSandboxOutputEvent */
        SharedSandboxOutputEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /**
             * Status
             * @constant
             */
            status: "SANDBOX_OUTPUT";
            /** Stream */
            stream: string;
            /** Line */
            line: string;
        };
        /** SharedSandboxRunningEvent */
        SharedSandboxRunningEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /**
             * Status
             * @constant
             */
            status: "SANDBOX_RUNNING";
        };
        /** SharedTestResultEvent */
        SharedTestResultEvent: {
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /**
             * Status
             * @constant
             */
            status: "TEST_RESULT";
            result: components["schemas"]["TestOutcome"];
            /** Total Tests */
            total_tests: number;
        };
        /** SharedWaitingEvent */
        SharedWaitingEvent: {
            /**
             * Status
             * @enum {string}
             */
            status: "IN_QUEUE" | "PROVISIONING";
            /** Submission Id */
            submission_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
        };
        SharedSubmissionEvent: components["schemas"]["SharedWaitingEvent"] | components["schemas"]["SharedCompilingEvent"] | components["schemas"]["SharedCompiledEvent"] | components["schemas"]["SharedCheckingEvent"] | components["schemas"]["SharedTestResultEvent"] | components["schemas"]["SharedCheckedEvent"] | components["schemas"]["SharedBenchmarkingEvent"] | components["schemas"]["SharedBenchmarkResultEvent"] | components["schemas"]["SharedBenchmarkedEvent"] | components["schemas"]["SharedProfilingEvent"] | components["schemas"]["SharedSandboxRunningEvent"] | components["schemas"]["SharedSandboxOutputEvent"] | components["schemas"]["SharedEndedEvent"] | components["schemas"]["StreamBrokenEvent"] | components["schemas"]["HeartbeatEvent"];
        /** TopicChange */
        TopicChange: {
            /** Topic */
            topic: string;
            submission: components["schemas"]["Submission"] | null;
        };
        /** TopicFrame */
        TopicFrame: {
            /** Topic */
            topic: string;
            /** Event Id */
            event_id: number | null;
            /** Frame */
            frame: (components["schemas"]["InQueueEvent"] | components["schemas"]["ProvisioningEvent"] | components["schemas"]["CompilingEvent"] | components["schemas"]["CompiledEvent"] | components["schemas"]["CheckingEvent"] | components["schemas"]["TestResultEvent"] | components["schemas"]["CheckedEvent"] | components["schemas"]["BenchmarkingEvent"] | components["schemas"]["BenchmarkResultEvent"] | components["schemas"]["BenchmarkedEvent"] | components["schemas"]["ProfilingEvent"] | components["schemas"]["SandboxRunningEvent"] | components["schemas"]["SandboxOutputEvent"] | components["schemas"]["StreamBrokenEvent"] | components["schemas"]["HeartbeatEvent"] | components["schemas"]["EndedEvent"]) | (components["schemas"]["SharedWaitingEvent"] | components["schemas"]["SharedCompilingEvent"] | components["schemas"]["SharedCompiledEvent"] | components["schemas"]["SharedCheckingEvent"] | components["schemas"]["SharedTestResultEvent"] | components["schemas"]["SharedCheckedEvent"] | components["schemas"]["SharedBenchmarkingEvent"] | components["schemas"]["SharedBenchmarkResultEvent"] | components["schemas"]["SharedBenchmarkedEvent"] | components["schemas"]["SharedProfilingEvent"] | components["schemas"]["SharedSandboxRunningEvent"] | components["schemas"]["SharedSandboxOutputEvent"] | components["schemas"]["SharedEndedEvent"] | components["schemas"]["StreamBrokenEvent"] | components["schemas"]["HeartbeatEvent"]);
        };
        /** TopicRefusal */
        TopicRefusal: {
            /** Topic */
            topic: string;
            refusal: components["schemas"]["TopicRefusalReason"];
        };
        /** TopicRefusalReason */
        TopicRefusalReason: {
            /** Status */
            status: number;
            /** Title */
            title: string;
            /** Detail */
            detail: string;
        };
        TopicEvent: components["schemas"]["TopicFrame"] | components["schemas"]["TopicChange"] | components["schemas"]["TopicRefusal"] | components["schemas"]["HeartbeatEvent"];
        /** MachineChange */
        MachineChange: {
            /** Status */
            status: components["schemas"]["MachineState"];
            /** Timestamp */
            timestamp: number;
            /** Previous State */
            previous_state: components["schemas"]["MachineState"];
            /** Reason */
            reason: string;
            /** Stage */
            stage: string;
            /** Elapsed Seconds */
            elapsed_seconds: number;
            /** Estimate Seconds */
            estimate_seconds: number | null;
            /** Estimate P90 Seconds */
            estimate_p90_seconds: number | null;
            machine: components["schemas"]["Machine"];
            /**
             * Final
             * @constant
             */
            final?: true;
        };
        MachineEvent: components["schemas"]["MachineChange"] | components["schemas"]["HeartbeatEvent"];
        /** ReservationActiveEvent */
        ReservationActiveEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "ACTIVE";
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string | null;
            /** Host Key */
            host_key: string;
            /** Login User */
            login_user: string;
            /** Gaps */
            gaps: string[];
            /** Ssh Command */
            ssh_command: string;
        };
        /** ReservationBuildingEvent */
        ReservationBuildingEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "BUILDING";
            /** Text */
            text: string;
        };
        /** ReservationCommandEndedEvent */
        ReservationCommandEndedEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "COMMAND_ENDED";
            /** Exit Status */
            exit_status: number;
        };
        /** ReservationDiskEvent */
        ReservationDiskEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "DISK";
            /** Used Bytes */
            used_bytes: number;
            /** Share Bytes */
            share_bytes: number;
        };
        /** ReservationEndedEvent */
        ReservationEndedEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "CANCELLED" | "EXPIRED" | "FAILED";
            /** Message */
            message: string;
            /**
             * Final
             * @constant
             */
            final: true;
        };
        /** ReservationEndingEvent */
        ReservationEndingEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /** User Id */
            user_id: string;
            /** By */
            by?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "ENDING";
            /** Message */
            message: string;
        };
        /** ReservationExpiringEvent */
        ReservationExpiringEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "EXPIRING";
        };
        /** ReservationExtendedEvent */
        ReservationExtendedEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /** User Id */
            user_id: string;
            /** By */
            by?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "EXTENDED";
            /** Hours */
            hours: number;
            /**
             * Expires At
             * Format: date-time
             */
            expires_at: string | null;
        };
        /** ReservationLoginEvent */
        ReservationLoginEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "LOGIN" | "LOGOUT";
            /** Connection */
            connection: number;
            /** User */
            user: string;
            /** Fingerprint */
            fingerprint: string;
        };
        /** ReservationNoShowEvent */
        ReservationNoShowEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "NO_SHOW";
            /**
             * Ends At
             * Format: date-time
             */
            ends_at: string | null;
        };
        /** ReservationNotifiedEvent */
        ReservationNotifiedEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /** User Id */
            user_id: string;
            /** By */
            by?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "NOTIFIED";
            /** Text */
            text: string;
            /** Terminals */
            terminals: number;
        };
        /** ReservationOomEvent */
        ReservationOomEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "OOM";
            /** Oom Count */
            oom_count: number;
        };
        /** ReservationPendingEvent */
        ReservationPendingEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "PENDING";
            /**
             * Start Time
             * Format: date-time
             */
            start_time: string | null;
        };
        /** ReservationPreparingEvent */
        ReservationPreparingEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /** Vm State */
            vm_state: components["schemas"]["StartKind"] | null;
            /** Stage */
            stage: string;
            machine: components["schemas"]["MachineFigures"] | null;
            /** Elapsed Seconds */
            elapsed_seconds: number;
            /** Estimate Seconds */
            estimate_seconds: number | null;
            /** Estimate P90 Seconds */
            estimate_p90_seconds: number | null;
            /** Start Limit Seconds */
            start_limit_seconds: number | null;
            /** Message */
            message: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "PREPARING";
        };
        /** ReservationProgressEvent */
        ReservationProgressEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "FETCHING" | "RESTORING";
            /** Percent */
            percent: number;
        };
        /** ReservationQueuedEvent */
        ReservationQueuedEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "QUEUED";
            /** Position */
            position: number | null;
            /** Eta P50 */
            eta_p50: number | null;
            /** Eta P90 */
            eta_p90: number | null;
            /** Message */
            message: string;
        };
        /** ReservationRecalledEvent */
        ReservationRecalledEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "RECALLED";
            /** Queue */
            queue: string;
            /**
             * Ends At
             * Format: date-time
             */
            ends_at: string | null;
            /** Message */
            message: string;
        };
        /** ReservationSnapshotEvent */
        ReservationSnapshotEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "SNAPSHOT";
            /** Reason */
            reason: components["schemas"]["SnapshotReason"];
            /** Seconds */
            seconds: number;
            /** Fault */
            fault: string | null;
            /**
             * Time
             * Format: date-time
             */
            time?: string | null;
            /** Size Bytes */
            size_bytes?: number;
            /** Files */
            files?: number;
            /** Skipped */
            skipped?: number;
            /** Is Unchanged */
            is_unchanged?: boolean;
        };
        /** ReservationStepEvent */
        ReservationStepEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "STEP";
            /** Name */
            name: string;
            /** Seconds */
            seconds: number;
        };
        /** ReservationUsersChangedEvent */
        ReservationUsersChangedEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /** User Id */
            user_id: string;
            /** By */
            by?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "USERS_CHANGED";
            /** Users */
            users: string[];
            /** Added */
            added: string[];
            /** Removed */
            removed: string[];
            /** Editors */
            editors: string[];
        };
        /** ReservationWarningEvent */
        ReservationWarningEvent: {
            /** Reservation Id */
            reservation_id: string;
            /** Timestamp */
            timestamp: number;
            /** Attempt */
            attempt: number;
            /** Cost Usd */
            cost_usd: number;
            /** Node */
            node?: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            status: "WARNING";
            /** Minutes Left */
            minutes_left: number;
        };
        ReservationEvent: components["schemas"]["ReservationPendingEvent"] | components["schemas"]["ReservationQueuedEvent"] | components["schemas"]["ReservationPreparingEvent"] | components["schemas"]["ReservationStepEvent"] | components["schemas"]["ReservationActiveEvent"] | components["schemas"]["ReservationLoginEvent"] | components["schemas"]["ReservationOomEvent"] | components["schemas"]["ReservationBuildingEvent"] | components["schemas"]["ReservationProgressEvent"] | components["schemas"]["ReservationCommandEndedEvent"] | components["schemas"]["ReservationSnapshotEvent"] | components["schemas"]["ReservationDiskEvent"] | components["schemas"]["ReservationWarningEvent"] | components["schemas"]["ReservationExtendedEvent"] | components["schemas"]["ReservationUsersChangedEvent"] | components["schemas"]["ReservationNotifiedEvent"] | components["schemas"]["ReservationEndingEvent"] | components["schemas"]["ReservationNoShowEvent"] | components["schemas"]["ReservationRecalledEvent"] | components["schemas"]["ReservationExpiringEvent"] | components["schemas"]["ReservationEndedEvent"] | components["schemas"]["HeartbeatEvent"];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_submissions: {
        parameters: {
            query?: {
                page_size?: number;
                page_token?: string;
                problem?: string;
                account_id?: string;
                everybody?: boolean;
                user_id?: string;
                state?: components["schemas"]["JobState"][];
                verdict?: components["schemas"]["Verdict"][];
                status?: components["schemas"]["FinalStatus"][];
                mode?: components["schemas"]["Mode"][];
                gpu_type?: string;
                dtype?: string;
                comparable_to?: string;
                sort?: components["schemas"]["SubmissionOrder"];
                queue?: string;
                since?: string | null;
                until?: string | null;
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
    create_submission: {
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
    quote_submission: {
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
    get_submission: {
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
                    "application/json": components["schemas"]["SubmissionDetail"] | components["schemas"]["SharedSubmission"] | components["schemas"]["OverseenSubmission"];
                };
            };
        };
    };
    update_submission: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                submission_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Submission"];
                };
            };
        };
    };
    stream_submission_events: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
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
    get_submission_isa: {
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
    get_submission_samples: {
        parameters: {
            query?: {
                test_id?: number | null;
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
                    "application/json": components["schemas"]["SubmissionSamples"];
                };
            };
        };
    };
    get_submission_report: {
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
                    "application/json": components["schemas"]["SignedReport"];
                };
            };
        };
    };
    cancel_submission: {
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
    follow_topics: {
        parameters: {
            query: {
                topic: string[];
                after?: string | null;
            };
            header?: {
                "last-event-id"?: string | null;
            };
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
                    "text/event-stream": {
                        event?: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    list_problems: {
        parameters: {
            query?: {
                gpu_type?: string;
                dtype?: string;
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
                    "application/json": components["schemas"]["ProblemList"];
                };
            };
        };
    };
    get_problem: {
        parameters: {
            query?: {
                dtype?: string;
                gpu_type?: string;
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
    list_gpu_types: {
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
    list_machines: {
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
    request_machine: {
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
    get_machine: {
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
    stream_machine_events: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
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
    drain_machine: {
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
    stop_machine: {
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
    get_machine_logs: {
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
                    "text/plain": string;
                };
            };
        };
    };
    list_offers: {
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
    diagnose_providers: {
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
    resume_renting: {
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
    get_me: {
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
    get_notices: {
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
    set_notices: {
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
    get_profile_setting: {
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
                    "application/json": components["schemas"]["ProfileSetting"];
                };
            };
        };
    };
    set_profile_setting: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProfileChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileSetting"];
                };
            };
        };
    };
    get_limits: {
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
    get_costs: {
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
    get_cost_report: {
        parameters: {
            query?: {
                from?: string | null;
                to?: string | null;
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
    verify_ledger: {
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
    get_statement: {
        parameters: {
            query?: {
                from?: string | null;
                to?: string | null;
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
                    "text/csv": string;
                    "text/html": string;
                };
            };
        };
    };
    list_grants: {
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
    grant_credit: {
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
    revoke_credit: {
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
    refund_charge: {
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
    list_budgets: {
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
    set_budget: {
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
    remove_budget: {
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
    list_prices: {
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
    set_price: {
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
    list_price_periods: {
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
    get_quote: {
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
    get_projections: {
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
    list_rankings: {
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
    list_records: {
        parameters: {
            query: {
                problem: string;
                gpu_type?: string;
                dtype?: string;
                timing?: components["schemas"]["TimingMode"] | null;
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
                    "application/json": components["schemas"]["RecordHistory"];
                };
            };
        };
    };
    compare_submissions: {
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
    list_queues: {
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
    apply_queues: {
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
    close_queue: {
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
    open_queue: {
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
    begin_maintenance: {
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
    end_maintenance: {
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
    remove_queue: {
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
    explain_submission: {
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
    upload_build_context: {
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
    list_reservations: {
        parameters: {
            query?: {
                state?: components["schemas"]["ReservationState"][] | null;
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
    create_reservation: {
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
    quote_reservation: {
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
    get_reservation_usage: {
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
    get_reservation_calendar: {
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
    get_reservation: {
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
    rename_reservation: {
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
    stream_reservation_events: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
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
    cancel_reservation: {
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
    extend_reservation: {
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
    change_reservation_users: {
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
    notify_reservation: {
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
    describe_tunnel: {
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
    get_availability: {
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
    list_disks: {
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
    create_disk: {
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
    delete_disk: {
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
    rename_disk: {
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
    clone_disk: {
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
    get_disk_content: {
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
    take_disk_snapshot: {
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
    list_tokens: {
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
    create_token: {
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
    revoke_token: {
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
    create_ticket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewTicket"];
                };
            };
        };
    };
    list_keys: {
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
    add_key: {
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
                    "application/json": components["schemas"]["UserKey"];
                };
            };
        };
    };
    finish_claim: {
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
    begin_claim: {
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
    remove_key: {
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
    list_accounts: {
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
    create_account: {
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
    get_account: {
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
    list_users: {
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
    create_user: {
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
    get_user: {
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
    update_user: {
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
    get_profile: {
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
                    "application/json": components["schemas"]["UserProfile"];
                };
            };
        };
    };
    list_teams: {
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
    create_team: {
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
    get_team: {
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
    add_member: {
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
    remove_member: {
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
    get_sign_in_options: {
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
    sign_in: {
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
    list_alerts: {
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
    list_alert_history: {
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
    list_alert_rules: {
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
    send_test_alert: {
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
    list_acts: {
        parameters: {
            query?: {
                user?: string;
                kind?: string;
                since?: string | null;
                until?: string | null;
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
                    "application/json": components["schemas"]["ActList"];
                };
            };
        };
    };
    get_job_metrics: {
        parameters: {
            query?: {
                group_by?: components["schemas"]["Grouping"];
                since?: string | null;
                until?: string | null;
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
    get_queue_metrics: {
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
    get_metrics: {
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
    get_amd_metrics: {
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
    amd_submit: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    direct_submit: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    direct_check: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    direct_benchmark: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    direct_sample: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    direct_sandbox: {
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
                    "text/event-stream": {
                        event: string;
                        id?: string;
                        data: string;
                    };
                };
            };
        };
    };
    direct_cancel: {
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
    get_health: {
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
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    get_readiness: {
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
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
}
